import { sql } from 'kysely'
import type { Database } from '../database.ts'
import { initial } from './0001-initial.ts'
import { sessionApi } from './0002-session-api.ts'
import { administration } from './0003-administration.ts'
import type { Migration } from './migration.ts'

/** Every migration, oldest first, for every engine. Append only. */
const migrations: readonly Migration[] = [initial, sessionApi, administration]

/**
 * Brings the schema up to date and returns what was applied. Two processes starting at once are safe: the second finds
 * nothing left to do. Throws when the database was made by a newer version.
 */
export async function migrate(database: Database): Promise<string[]> {
  const { words } = database
  return database.write(async (tx) => {
    await sql`create table if not exists instance (key ${words.text} primary key, value ${words.text} not null) ${words.strict}`.execute(
      tx.q,
    )
    const rows = await tx.q.selectFrom('instance').selectAll().where('key', 'like', 'migration:%').execute()
    const known = new Set(migrations.map(({ name }) => `migration:${name}`))
    const foreign = rows.find(({ key }) => !known.has(key))
    if (foreign) {
      throw new Error(
        `The database was made by a newer version of svc (${foreign.key.slice('migration:'.length)}); update svc, or restore a backup made before the update.`,
      )
    }
    const applied = new Set(rows.map(({ key }) => key))
    const missing = migrations.filter(({ name }) => !applied.has(`migration:${name}`))
    for (const migration of missing) {
      for (const statement of migration.statements(words)) await statement.execute(tx.q)
      const value = new Date().toISOString()
      await tx.q
        .insertInto('instance')
        .values({ key: `migration:${migration.name}`, value })
        .execute()
    }
    return missing.map(({ name }) => name)
  })
}
