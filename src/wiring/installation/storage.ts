import { stat } from 'node:fs/promises'
import type { Given } from '../../domain/instance/instance.ts'
import type { BlobStore } from '../../storage/contents/blobs/blobs.ts'
import { openDisk } from '../../storage/contents/blobs/disk.ts'
import type { Database } from '../../storage/engine/database.ts'
import { findFact } from '../../storage/instance/settings.ts'
import { openSqlite, type SqliteOptions } from '../../storage/engine/sqlite.ts'
import { arrivals, BadDataDirectory, type DataDirectory } from './data-directory.ts'
import { assertNotElsewhere } from './external-database.ts'
import { notInstalled } from './installation-check.ts'
import { assertNothingLost, LostDatabase, lostRows, moveAside, remainsOf } from './lost-database.ts'

/** The rows and contents of an installation. */
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

/** The settings that name a place outside the data directory. */
export const PLACES = ['database', 'blobs'] as const

export const isPlace = (name: string): boolean => (PLACES as readonly string[]).includes(name)

/** Whether rows are in the data directory, which is the default. */
export const keepsOwnRows = ({ values }: Given): boolean => !values.database

/** Whether the path exists and can be inspected. */
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** `--new` was given, but the installation is not lost. */
class NotLost extends Error {
  override name = 'NotLost'
  readonly exitCode = 6
  readonly reason = 'exists'
  constructor(path: string) {
    super(`${path} has its database: --new is only for a lost one. Leave out --new, or name another --data-dir.`)
  }
}

const hasAccounts = async ({ read }: Database): Promise<boolean> =>
  (await read.q.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined

/** Whether these rows have been in use before. */
async function isInstallation({ read }: Database): Promise<boolean> {
  const tables = await read.q.introspection.getTables()
  return tables.some(({ name }) => name === 'instance') && (await findFact(read, 'server_id')) !== undefined
}

async function assertOwnRows(directory: DataDirectory, database: Database, isNew: boolean): Promise<void> {
  if ((isNew || !(await hasAccounts(database))) && (await isThere(directory.database)))
    throw new BadDataDirectory(
      `The database that the setting names has no accounts, and there are rows in ${directory.database}: move them with svc storage migrate --to postgres://…, or move that file away.`,
    )
  if (isNew) await assertNotElsewhere(directory, 'empty')
  const remains = isNew ? await remainsOf(directory) : []
  if (remains.length > 0) throw lostRows(directory.path, remains, 'the database in the settings is empty')
}

async function openDatabase(
  directory: DataDirectory,
  url: string,
  { create = false, flush = 'commit' }: OpenOptions,
): Promise<{ database: Database; isNew: boolean }> {
  if (url === '') {
    await assertNotElsewhere(directory, 'none')
    const isNew = (await assertNothingLost(directory)) !== 'own'
    if (isNew && !create) throw notInstalled(directory.path, true)
    return { database: openSqlite(directory.database, { flush }), isNew }
  }
  const { openPostgres } = await import('../../storage/engine/postgres.ts')
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

/** The disk, or the bucket of an `s3://` address with the credentials of the environment. */
export async function openBlobs(
  directory: DataDirectory,
  address: string,
  env: NodeJS.ProcessEnv,
  job?: AbortSignal,
): Promise<BlobStore> {
  if (address === '') return openDisk(directory.blobs)
  const [{ openS3 }, { parseS3Location }] = await Promise.all([
    import('../../storage/contents/blobs/s3.ts'),
    import('../../storage/contents/blobs/s3-location.ts'),
  ])
  const credentials = {
    accessKeyId: env['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'] ?? '',
    sessionToken: env['AWS_SESSION_TOKEN'],
  }
  return openS3(parseS3Location(address, credentials), arrivals(directory), {}, job)
}

/**
 * Opens what the settings name, by default the data directory. Throws a sentence if something does not answer,
 * `LostDatabase` if rows are missing, and `NoDataDirectory` if there is nothing and `create` is not set.
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

/** The same for a lost database: its remains are moved aside, and a new installation begins. */
export async function startOver(...[directory, given, env, options]: Parameters<typeof openStorage>): Promise<Storage> {
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
