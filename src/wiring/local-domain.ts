import { join } from 'node:path'
import { DAY, systemClock, type Clock } from '../base/clock.ts'
import { randomHex } from '../base/random.ts'
import { authorized, deriveKeys, makeAccounts, seal, unseal, type Keys } from '../domain/accounts/accounts.ts'
import { makeMentionListener } from '../domain/assistant/assistant.ts'
import { bounded, dataBoundsOf } from '../domain/data-bounds.ts'
import { makeDesktop, seedSystemApps } from '../domain/desktop/desktop.ts'
import { makeChat } from '../domain/chat/chat.ts'
import type { Domain } from '../domain/domain.ts'
import { makeFiles } from '../domain/files/files.ts'
import {
  makeAudit,
  makeInstance,
  makeSettings,
  type Given,
  type OptionName,
  type Settings,
} from '../domain/instance/instance.ts'
import { makePortability } from '../domain/portability/portability.ts'
import { makeRewind } from '../domain/rewind/rewind.ts'
import { makeSearch } from '../domain/search/search.ts'
import { makeSeeding } from '../domain/seed/seed.ts'
import { makeSync, shapes } from '../domain/sync/sync.ts'
import { assertOwnedBy, ownedBlobs } from '../storage/contents/blobs/owned-blobs.ts'
import { knownContents } from '../storage/contents/content-check.ts'
import { makeContents } from '../storage/contents/contents.ts'
import type { Database } from '../storage/engine/database.ts'
import type { BlobStore } from '../storage/contents/blobs/blobs.ts'
import type { SqliteOptions } from '../storage/engine/sqlite.ts'
import { migrate } from '../storage/engine/migrations/migrate.ts'
import { ensureTables } from '../storage/engine/synchronised-tables.ts'
import { postgresSearchIndex } from '../storage/search/postgres-search-index.ts'
import { sqliteSearchIndex } from '../storage/search/sqlite-search-index.ts'
import { findFact, instanceFact } from '../storage/instance/settings.ts'
import { openAssistant } from './assistant.ts'
import type { Config } from './config/config.ts'
import { dataDirectoryPath, openDataDirectory, type DataDirectory } from './installation/data-directory.ts'
import { commandOperator, environment } from './config/environment.ts'
import { ownBackups } from './backups/installation-backups.ts'
import { readGiven } from './config/given-config.ts'
import { rememberExternalDatabase } from './installation/external-database.ts'
import { assertSameKey, secretKey } from './installation/secret-key.ts'
import { keepsOwnRows, startOver, openStorage, type Storage } from './installation/storage.ts'
import { openThumbnails } from './thumbnail-setup.ts'
import { keepCopy } from './upgrade.ts'
import { version } from './config/version.ts'

export interface LocalOptions {
  dataDir?: string | undefined
  env?: NodeJS.ProcessEnv
  flags?: Partial<Record<OptionName, string | undefined>>
  clock?: Clock
  /** Actor in the audit log if there is no user; by default the system user of a command. */
  operator?: string
  /** False if there must be an installation already. */
  create?: boolean
  /** Start over after a lost database: its remains are moved aside. */
  startsOver?: boolean
  /** Where SQLite commits are flushed; a server passes `background`. */
  flush?: SqliteOptions['flush']
  /** Interval of polling for changes of other processes while someone waits for them. */
  checkIntervalMs?: number | undefined
}

/** The domain on a data directory, with or without a server. */
export interface Local {
  domain: Domain
  config: Config
  directory: DataDirectory
  /** For monitoring; the activity of the store only where it is remote. */
  activity: { database: Database['activity']; blobs: BlobStore['activity'] }
  onDatabaseMoved: Database['onMoved']
  onDatabaseFailure: Database['onFailure']
  close(): Promise<void>
}

async function prepare(
  { database, isNew }: Storage,
  { clock, keys: { seal: key }, ownRowsIn }: { clock: Clock; keys: Keys; ownRowsIn: string | undefined },
) {
  // Before any change: these may be the rows of another installation.
  const known = isNew ? undefined : await findFact(database.read, 'key_check')
  if (known !== undefined) assertSameKey(() => unseal(key, 'key check', known))
  if (!isNew && ownRowsIn !== undefined) await keepCopy(database, ownRowsIn)
  await migrate(database)
  await ensureTables(database, shapes)
  return database.write('instance', async (tx) => {
    await seedSystemApps(tx, clock.now())
    const sealed = await instanceFact(tx, 'key_check', () => seal(key, 'key check', ''))
    assertSameKey(() => unseal(key, 'key check', sealed))
    return {
      server_id: await instanceFact(tx, 'server_id', () => randomHex(16)),
      epoch: await instanceFact(tx, 'epoch', () => randomHex(16)),
    }
  })
}

const policyOf = (settings: Settings) => async () => {
  const values = await settings.values()
  return {
    deviceIdleMs: values['auth.device_idle_days'] * DAY,
    deviceMaxMs: values['auth.device_max_days'] * DAY,
    limitsOn: values['limits.enabled'],
    defaultQuotaBytes: values['quota.default'],
    hostName: values.public_url === '' ? '' : new URL(values.public_url).hostname,
  }
}

const allowanceOf = (settings: Settings) => async () => {
  const values = await settings.values()
  return {
    defaultQuota: values['quota.default'],
    maxFileSize: values['files.max_size'],
    retention: values['retention.versions_days'] * DAY,
    maxNodes: values['files.max_nodes'],
    historyShare: values['quota.history'],
  }
}

const appPolicyOf = (settings: Settings) => async () => {
  const values = await settings.values()
  return { disabled: values.disabled_apps, allowedOrigins: values['apps.allowed_origins'] }
}

/** Secret settings are sealed under their names. */
const sealingWith = ({ seal: key }: Keys) => ({
  seal: (name: string, text: string) => seal(key, `setting ${name}`, text),
  unseal: (name: string, sealed: string) => unseal(key, `setting ${name}`, sealed),
})

type SearchParts = Omit<Parameters<typeof makeSearch>[0], 'index'>

function openSearch({ path }: DataDirectory, parts: SearchParts) {
  const isSqlite = parts.database.read.engine === 'sqlite'
  const index = isSqlite ? sqliteSearchIndex(join(path, 'search.db')) : postgresSearchIndex(parts.unattended)
  return makeSearch({ ...parts, index })
}

/** Opens a data directory, migrates it, and assembles the domain on it. */
export async function openLocal(options: LocalOptions): Promise<Local> {
  const { dataDir, env = environment, flags = {}, create = true, startsOver = false, flush } = options
  const directory = await openDataDirectory(dataDirectoryPath(dataDir, env))
  const given = await readGiven(directory, env, flags)
  const storage = await (startsOver ? startOver : openStorage)(directory, given, env, { create, flush })
  try {
    return await openOn(storage, directory, given, { ...options, env })
  } catch (error) {
    await storage.close()
    throw error
  }
}

async function openOn(
  storage: Storage,
  directory: DataDirectory,
  given: Given,
  { env = environment, clock = systemClock, operator = commandOperator(), checkIntervalMs }: LocalOptions,
): Promise<Local> {
  const { isNew, close } = storage
  // Before anything is created: a bucket that was used belongs to a database somewhere.
  if (isNew) await assertOwnedBy(storage.blobs, undefined)
  const secret = await secretKey(directory, isNew, env)
  const keys = deriveKeys(secret.key)
  const identity = await prepare(storage, { clock, keys, ownRowsIn: keepsOwnRows(given) ? directory.path : undefined })
  await secret.keep()
  if (given.values.database) await rememberExternalDatabase(directory, given.values.database)
  const unattended = storage.database
  const unbounded = authorized(unattended)
  const blobs = ownedBlobs(storage.blobs, identity.server_id, knownContents(storage.database.read))

  const settings = makeSettings(unbounded, given, clock, sealingWith(keys))
  const database = bounded(unbounded, dataBoundsOf(settings))
  const audit = makeAudit({ database, clock, operator })
  const contents = makeContents(database, blobs)
  const allowance = allowanceOf(settings)
  const files = makeFiles({ database, unattended, contents, clock, allowance })
  const { history, slice } = files
  const { thumbnails, close: closeThumbnailer } = openThumbnails(directory, contents, settings)
  const instance = makeInstance({ database, contents, history, clock, settings, audit, identity, version })
  const sync = makeSync({ database, clock, epoch: () => identity.epoch, checkIntervalMs })
  const policy = policyOf(settings)
  const accounts = makeAccounts({
    database,
    unattended,
    clock,
    keys,
    audit,
    files,
    policy,
    maintenance: () => instance.closedFor({ changes: false }),
    checkIntervalMs,
  })
  const desktop = makeDesktop({ database, contents, settings, clock, audit, appPolicy: appPolicyOf(settings) })
  const mentionListener = makeMentionListener({ clock, settings })
  const chat = makeChat({ database, unattended, slice, clock, audit, listener: mentionListener, checkIntervalMs })
  const search = openSearch(directory, { database, unattended, contents, epoch: identity.epoch })
  const portability = makePortability({
    database,
    contents,
    clock,
    audit,
    identity,
    version,
    accounts,
    files,
    policy: async () => ({ ...(await allowance()), ...(await appPolicyOf(settings)()) }),
  })
  const rewind = makeRewind({ database, clock, accounts, files, sync, audit, identity })
  const seeding = makeSeeding({ database, clock, audit, settings, accounts, chat, desktop, files, policy })

  const common = { database, clock, settings, audit, env, checkIntervalMs }
  const assistant = openAssistant({ ...common, chat, desktop, files, search, sync, mentionListener })

  const backups = ownBackups(directory, env, { database, blobs, clock, audit, settings, identity })

  const features = { accounts, assistant, backups, chat, desktop, files, instance }
  return {
    domain: { ...features, portability, rewind, search, seeding, sync, thumbnails },
    config: { ...given, dataDir: directory.path },
    directory,
    activity: { database: () => database.activity(), blobs: blobs.activity },
    onDatabaseMoved: (listener) => database.onMoved(listener),
    onDatabaseFailure: (listener) => database.onFailure(listener),
    async close() {
      sync.close()
      chat.close()
      closeThumbnailer()
      await search.close()
      await close()
    },
  }
}
