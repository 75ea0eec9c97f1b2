import { stat } from 'node:fs/promises'
import type { Given } from '../domain/instance/instance.ts'
import type { BlobStore } from '../storage/contents/blobs/blobs.ts'
import { openDisk } from '../storage/contents/blobs/disk.ts'
import type { Database } from '../storage/engine/database.ts'
import { findFact } from '../storage/instance/settings.ts'
import { openSqlite, type SqliteOptions } from '../storage/engine/sqlite.ts'
import { arrivals, BadDataDirectory, type DataDirectory } from './data-directory.ts'
import { notInstalled } from './installed.ts'
import { assertNothingLost, LostDatabase, lostRows, moveAside, remainsOf } from './lost-database.ts'

/** Where an installation keeps its rows and its contents. */
export interface Storage {
  database: Database
  blobs: BlobStore
  /** Whether the database holds no installation yet. */
  isNew: boolean
  close(): Promise<void>
}

export interface OpenOptions {
  create?: boolean
  flush?: SqliteOptions['flush']
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

/** Nothing was lost that a new installation could take the place of. */
class NotLost extends Error {
  override name = 'NotLost'
  readonly exitCode = 6
  readonly reason = 'exists'
  constructor(path: string) {
    super(`${path} has its database: --new is for one that lost it. Use it without --new, or name another --data-dir.`)
  }
}

const hasAccounts = async ({ read }: Database): Promise<boolean> =>
  (await read.q.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined

/** Whether somebody was served with these rows before. */
async function isInstallation({ read }: Database): Promise<boolean> {
  const tables = await read.q.introspection.getTables()
  return tables.some(({ name }) => name === 'instance') && (await findFact(read, 'server_id')) !== undefined
}

/** Refuses a database on a server that is not the one this data directory was used with. */
async function assertOwnRows(directory: DataDirectory, database: Database, isNew: boolean): Promise<void> {
  if ((isNew || !(await hasAccounts(database))) && (await isThere(directory.database)))
    throw new BadDataDirectory(
      `The database that the setting names has no accounts, and there are rows in ${directory.database}: move them with svc storage migrate --to postgres://…, or move that file away.`,
    )
  const remains = isNew ? await remainsOf(directory) : []
  if (remains.length > 0) throw lostRows(directory.path, remains, 'the database that the settings name is empty')
}

async function openDatabase(
  directory: DataDirectory,
  url: string,
  { create = false, flush = 'commit' }: OpenOptions,
): Promise<{ database: Database; isNew: boolean }> {
  if (url === '') {
    const isNew = (await assertNothingLost(directory)) !== 'own'
    if (isNew && !create) throw notInstalled(directory.path, true)
    return { database: openSqlite(directory.database, { flush }), isNew }
  }
  const { openPostgres } = await import('../storage/engine/postgres.ts')
  const database = await openPostgres(url)
  try {
    const isNew = !(await isInstallation(database))
    await assertOwnRows(directory, database, isNew)
    if (isNew && !create) throw notInstalled(directory.path, true)
    return { database, isNew }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Opens the contents of a data directory, or those that stand at an address: for the process, or for a job. */
export async function openBlobs(
  directory: DataDirectory,
  address: string,
  env: NodeJS.ProcessEnv,
  job?: AbortSignal,
): Promise<BlobStore> {
  if (address === '') return openDisk(directory.blobs)
  const [{ openS3 }, { parseS3Location }] = await Promise.all([
    import('../storage/contents/blobs/s3.ts'),
    import('../storage/contents/blobs/s3-location.ts'),
  ])
  const credentials = {
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: env['AWS_SESSION_TOKEN'],
  }
  return openS3(parseS3Location(address, credentials), arrivals(directory), {}, job)
}

/**
 * Opens what the settings name, by default what is in the data directory. Throws a sentence about what does not answer,
 * `LostDatabase` where rows should be and are not, and `NoDataDirectory` where there is nothing and `create` is not given.
 */
export async function openStorage(
  directory: DataDirectory,
  { values }: Given,
  env: NodeJS.ProcessEnv,
  options: OpenOptions = {},
): Promise<Storage> {
  const { database, isNew } = await openDatabase(directory, values.database ?? '', options)
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

/** The same where an installation lost its database: what is left of it is moved aside, and a new one begun. */
export async function openAnew(...[directory, given, env, options]: Parameters<typeof openStorage>): Promise<Storage> {
  const open = () => openStorage(directory, given, env, { ...options, create: true })
  const storage = await open().catch(async (error: unknown) => {
    if (!(error instanceof LostDatabase)) throw error
    await moveAside(directory, new Date())
    return open()
  })
  if (storage.isNew) return storage
  await storage.close()
  throw new NotLost(directory.path)
}
