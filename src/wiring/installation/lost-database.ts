import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { variableOf } from '../../domain/instance/options.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { openCopyFile, type SqliteHandle } from '../../host/sqlite-engine.ts'
import type { DataDirectory } from './data-directory.ts'

// With an empty database, every content of an installation would look like garbage. So before anything is created, the
// content of the data directory is compared with the state of its database.

/** The database of an installation is missing or is another one; the message says how to restore it. */
export class LostDatabase extends Error {
  override name = 'LostDatabase'
  readonly exitCode = 8
  readonly reason = 'database_lost'
}

/** The file of a secret key whose installation has no rows yet. */
export const PENDING_KEY = 'secret.key.new'

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return []
    throw error
  })

/** What only an installation leaves in a data directory, in words; empty for a new one. */
export async function remainsOf({ path, blobs }: DataDirectory): Promise<string[]> {
  // Hidden files are being written right now, or were when a process died.
  const hasKeys = (await namesIn(join(path, 'keys'))).some((name) => name !== PENDING_KEY && !name.startsWith('.'))
  const hasContents = (await namesIn(blobs)).some((name) => /^([0-9a-f]{2}|installation)$/.test(name))
  return [...(hasKeys ? ['keys'] : []), ...(hasContents ? ['contents'] : [])]
}

/** `empty` has no rows of an installation, `foreign` those of another program or none that SQLite can read. */
export type DatabaseState = 'missing' | 'empty' | 'foreign' | 'own'

function inspectTables(handle: SqliteHandle): DatabaseState {
  const tables = handle.prepare("select name from sqlite_master where type = 'table'").pluck().all()
  if (!tables.includes('instance')) return tables.length === 0 ? 'empty' : 'foreign'
  return handle.prepare("select 1 from instance where key = 'server_id'").get() ? 'own' : 'empty'
}

/** Inspects the database file without changing it. Other read errors are left to opening it. */
export async function inspectDatabase(file: string): Promise<DatabaseState> {
  const found = await stat(file).catch((error: unknown) => errorCode(error))
  if (found === 'ENOENT') return 'missing'
  if (typeof found === 'string' || !found.isFile()) return 'own'
  if (found.size === 0) return 'empty'
  let handle: SqliteHandle | undefined
  try {
    handle = openCopyFile(file, { readonly: true })
    return inspectTables(handle)
  } catch (error) {
    return errorCode(error) === 'SQLITE_NOTADB' ? 'foreign' : 'own'
  } finally {
    handle?.close()
  }
}

const WHAT_TO_DO =
  'Mount the disk or put back the missing file, or restore a backup to a new folder (svc backup restore latest --from DIR --data-dir NEW). ' +
  'To start over, run svc init --new or svc serve --new, which move what is there aside and delete nothing.'

const PROBLEMS: Record<Exclude<DatabaseState, 'own'>, string> = {
  missing: 'no database (svc.db is missing)',
  empty: 'its database (svc.db) is empty',
  foreign: 'its svc.db is not a database of svc',
}

export const lostRows = (path: string, remains: readonly string[], problem: string): LostDatabase =>
  new LostDatabase(`${path} holds the ${remains.join(' and ')} of an installation, but ${problem}. ${WHAT_TO_DO}`)

/**
 * Inspects the database of a data directory with its own rows. Throws `LostDatabase` if the rows are missing. Reads the
 * remains first: a process that is creating the installation leaves them only after its rows exist.
 */
export async function assertNothingLost(directory: DataDirectory): Promise<DatabaseState> {
  const remains = await remainsOf(directory)
  const state = await inspectDatabase(directory.database)
  if (state === 'foreign' && remains.length === 0)
    throw new LostDatabase(`${directory.database} is not a database of svc: move it away, or name another --data-dir.`)
  if (state === 'own' || remains.length === 0) return state
  const elsewhere = state === 'missing' ? `, and ${variableOf('database')} names no server for its rows` : ''
  throw lostRows(directory.path, remains, `${PROBLEMS[state]}${elsewhere}`)
}

const REMAINS = /^(keys|blobs|tmp|arriving|thumbnails|search\.db.*|svc\.db.*|external-database\.json)$/

/** Moves the remains of a lost installation to a new folder and returns it; the configuration stays. */
export async function moveAside({ path }: DataDirectory, now: Date): Promise<string> {
  const folder = join(path, `lost-${now.toISOString().replace(/\D/g, '').slice(0, 14)}`)
  await mkdir(folder, { mode: 0o700 })
  for (const name of (await readdir(path)).filter((one) => REMAINS.test(one))) {
    await rename(join(path, name), join(folder, name)).catch((cause: unknown) => {
      if (!['EBUSY', 'EXDEV', 'EPERM'].includes(errorCode(cause))) throw cause
      throw new LostDatabase(`${join(path, name)} cannot be moved aside: unmount it, or mount an empty disk there.`, {
        cause,
      })
    })
  }
  await syncFolder(folder)
  await syncFolder(path)
  return folder
}
