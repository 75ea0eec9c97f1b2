import { stat } from 'node:fs/promises'
import type { Given } from '../domain/instance/instance.ts'
import { makeHasher } from '../host/hasher.ts'
import type { BlobStore } from '../storage/blobs/blobs.ts'
import { openDisk } from '../storage/blobs/disk.ts'
import type { Database } from '../storage/database.ts'
import { openSqlite } from '../storage/sqlite.ts'
import { arrivals, BadDataDirectory, type DataDirectory } from './data-directory.ts'

/** Where an installation keeps its rows and its contents. */
export interface Storage {
  database: Database
  blobs: BlobStore
  /** Whether nothing was in the database before. */
  isNew: boolean
  close(): Promise<void>
}

/** The settings that name another place than the data directory. */
export const PLACES = ['database', 'blobs'] as const

export const isPlace = (name: string): boolean => (PLACES as readonly string[]).includes(name)

/** Whether rows stand in the data directory, as they do unless a setting names a server for them. */
export const keepsOwnRows = ({ values }: Given): boolean => !values.database

/** Whether something has the name and can be looked at. */
export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

const hasAccounts = async ({ read }: Database): Promise<boolean> =>
  (await read.q.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined

async function openDatabase(directory: DataDirectory, url: string): Promise<{ database: Database; isNew: boolean }> {
  if (url === '') {
    const isNew = !(await isThere(directory.database))
    return { database: openSqlite(directory.database), isNew }
  }
  const { openPostgres } = await import('../storage/postgres.ts')
  const database = await openPostgres(url)
  const isNew = (await database.read.q.introspection.getTables()).length === 0
  if ((isNew || !(await hasAccounts(database))) && (await isThere(directory.database))) {
    await database.close()
    throw new BadDataDirectory(
      `The database that the setting names has no accounts, and there are rows in ${directory.database}: move them with svc storage migrate --to postgres://…, or move that file away.`,
    )
  }
  return { database, isNew }
}

/** Opens the contents of a data directory, or those that stand at an address. */
export async function openBlobs(directory: DataDirectory, address: string, env: NodeJS.ProcessEnv): Promise<BlobStore> {
  const hasher = makeHasher()
  if (address === '') return openDisk(directory.blobs, hasher)
  const [{ openS3 }, { readS3Place }] = await Promise.all([
    import('../storage/blobs/s3.ts'),
    import('../storage/blobs/s3-place.ts'),
  ])
  const credentials = {
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: env['AWS_SESSION_TOKEN'],
  }
  return openS3(readS3Place(address, credentials), arrivals(directory), hasher)
}

/** Opens what the settings name, by default what is in the data directory. Throws a sentence about what does not answer. */
export async function openStorage(
  directory: DataDirectory,
  { values }: Given,
  env: NodeJS.ProcessEnv,
): Promise<Storage> {
  const { database, isNew } = await openDatabase(directory, values.database ?? '')
  try {
    const blobs = await openBlobs(directory, values.blobs ?? '', env)
    return {
      database,
      blobs,
      isNew,
      async close() {
        await database.close()
        await blobs.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
