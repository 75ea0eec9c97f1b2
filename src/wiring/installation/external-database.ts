import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { variableOf } from '../../domain/instance/options.ts'
import { writeDurably } from '../../host/durable-files.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import { postgresAddress } from '../../storage/engine/postgres-address.ts'
import type { DataDirectory } from './data-directory.ts'
import { LostDatabase } from './lost-database.ts'

// A data directory whose rows are on a database server remembers so. A command that is not told of the server, for example because a
// variable is missing in its environment, must not begin a new installation beside it.

/** The file that names the database server. */
const EXTERNAL_DATABASE = 'external-database.json'

export const externalDatabaseFile = ({ path }: Pick<DataDirectory, 'path'>): string => join(path, EXTERNAL_DATABASE)

/** The address without user and password. */
function placeOf(url: string): string {
  const { hosts, path } = postgresAddress(url)
  return `postgres://${hosts}${path}`
}

/** Where the rows of a data directory are; undefined for its own database. */
async function externalDatabase(directory: DataDirectory): Promise<string | undefined> {
  try {
    const file = await readRegularFile(externalDatabaseFile(directory))
    const database = (JSON.parse(file) as { database?: unknown } | null)?.database
    return typeof database === 'string' ? database : 'a database server'
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    if (error instanceof SyntaxError) return 'a database server'
    throw error
  }
}

/** Remembers where the rows are. */
export async function rememberExternalDatabase(directory: DataDirectory, url: string): Promise<void> {
  const database = placeOf(url)
  if ((await externalDatabase(directory)) === database) return
  await writeDurably(externalDatabaseFile(directory), `${JSON.stringify({ database })}\n`)
}

/** Forgets it: the rows are in the data directory again. */
export const forgetExternalDatabase = (directory: DataDirectory): Promise<void> =>
  rm(externalDatabaseFile(directory), { force: true })

/** Throws `LostDatabase` for a data directory whose rows are on a server that the settings do not name, or name as an empty one. */
export async function assertNotElsewhere(directory: DataDirectory, named: 'none' | 'empty'): Promise<void> {
  const place = await externalDatabase(directory)
  if (place === undefined) return
  const problem =
    named === 'none'
      ? `the settings name no database: set ${variableOf('database')}`
      : `the database that the settings name is empty: correct ${variableOf('database')}, or restore a backup`
  throw new LostDatabase(
    `The rows of ${directory.path} are in ${place}, and ${problem}. To start over, run svc init --new or svc serve --new, or remove ${externalDatabaseFile(directory)}.`,
  )
}
