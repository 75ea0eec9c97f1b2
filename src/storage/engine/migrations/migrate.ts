import { sql } from 'kysely'
import { Busy } from '../../../base/errors.ts'
import type { Database, Reader, SchemaDialect, Writer } from '../database.ts'
import { hasOlderPeers, migrationNumber } from '../postgres-peers.ts'
import { REQUIRES } from '../postgres-connection-check.ts'
import { initial } from './0001-initial.ts'
import { sessionApi } from './0002-session-api.ts'
import { administration } from './0003-administration.ts'
import { assistant } from './0004-assistant.ts'
import { assistantLedger } from './0005-assistant-ledger.ts'
import { tombstonesByAge } from './0006-tombstones-by-age.ts'
import { tokenRights } from './0007-token-rights.ts'
import { bounds } from './0008-bounds.ts'
import { dataUsage } from './0009-data-usage.ts'
import { removals } from './0010-removals.ts'
import { keptMessages } from './0011-kept-messages.ts'
import { releasedContents } from './0012-released-contents.ts'
import { usernameLooks } from './0013-username-looks.ts'
import { writeLocks } from './0014-write-locks.ts'
import { searchQueue } from './0015-search-queue.ts'
import { roomFeeds } from './0016-room-feeds.ts'
import { endedMemberships } from './0017-ended-memberships.ts'
import type { Migration } from './migration.ts'

/** Every migration, oldest first, for every engine. Append only. */
export const migrations: readonly Migration[] = [
  initial,
  sessionApi,
  administration,
  assistant,
  assistantLedger,
  tombstonesByAge,
  tokenRights,
  bounds,
  dataUsage,
  removals,
  keptMessages,
  releasedContents,
  usernameLooks,
  writeLocks,
  searchQueue,
  roomFeeds,
  endedMemberships,
]

/** The table of applied migrations. */
export const instanceTable = (words: SchemaDialect) =>
  sql`create table if not exists instance (key ${words.text} primary key, value ${words.text} not null) ${words.strict}`

async function applyIn(on: Reader, words: SchemaDialect, { statements }: Migration): Promise<void> {
  for (const statement of statements(words)) await statement.execute(on.q)
}

/** Creates the schema of these migrations in an empty database, without recording them. */
export async function makeSchema(on: Reader, words: SchemaDialect, names: readonly string[]): Promise<void> {
  await instanceTable(words).execute(on.q)
  for (const migration of migrations.filter(({ name }) => names.includes(name))) await applyIn(on, words, migration)
}

const PREFIX = 'migration:'

export async function appliedMigrations(on: Reader): Promise<string[]> {
  const rows = await on.q
    .selectFrom('instance')
    .select('key')
    .where('key', 'like', `${PREFIX}%`)
    .orderBy('key')
    .execute()
  return rows.map(({ key }) => key.slice(PREFIX.length))
}

/** The migrations that an installation lacks. Throws if a newer version created the database. */
async function missingMigrations(on: Reader, all = migrations): Promise<Migration[]> {
  const applied = await appliedMigrations(on)
  const known = new Set(all.map(({ name }) => name))
  const foreign = applied.find((name) => !known.has(name))
  if (foreign) {
    throw new Error(
      `The database was made by a newer version of svc (${foreign}); update svc, or restore a backup made before the update.`,
    )
  }
  return all.filter(({ name }) => !applied.includes(name))
}

/** Their names, oldest first. */
export const pendingMigrations = async (on: Reader): Promise<string[]> =>
  (await missingMigrations(on)).map(({ name }) => name)

/** Applies a migration that earlier versions cannot work with, and keeps them away. Throws `Busy` while one is connected. */
async function contract(tx: Writer, dialect: SchemaDialect, migration: Migration): Promise<void> {
  if (await hasOlderPeers(tx, migrationNumber(migration.name)))
    throw new Busy(
      `A server of an earlier version uses the database, and this one removes what it needs (${migration.name}): stop it, then start this one again.`,
    )
  await applyIn(tx, dialect, migration)
  const value = new Date().toISOString()
  await tx.q
    .insertInto('instance')
    .values({ key: REQUIRES + migration.name, value })
    .execute()
}

/** Returns the names of applied migrations. Throws if a newer version created the database. `all` are the known ones. */
export async function migrate(database: Database, all: readonly Migration[] = migrations): Promise<string[]> {
  const { dialect } = database
  return database.write('instance', async (tx) => {
    await instanceTable(dialect).execute(tx.q)
    const missing = await missingMigrations(tx, all)
    for (const migration of missing) {
      await (migration.contracts ? contract : applyIn)(tx, dialect, migration)
      const value = new Date().toISOString()
      await tx.q
        .insertInto('instance')
        .values({ key: PREFIX + migration.name, value })
        .execute()
    }
    return missing.map(({ name }) => name)
  })
}
