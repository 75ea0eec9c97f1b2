import { sql } from 'kysely'
import type { Database } from '../../src/storage/engine/database.ts'

/**
 * A value that changes with every commit that changed a row, by any process; `database` must not be the writing one.
 */
export async function commitsSeenBy({ read }: Database): Promise<string | number> {
  if (read.engine === 'postgres') {
    const tables = sql<{ name: string }>`select quote_ident(relname) as name from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace order by oid`
    const { rows: names } = await tables.execute(read.q)
    // The last commit may only have locked rows.
    const versions = names.map(({ name }) => sql`select xmin::text || ctid::text as version from ${sql.raw(name)}`)
    const all = sql<{ state: string }>`select md5(string_agg(version, ',')) as state
      from (${sql.join(versions, sql` union all `)}) v`
    return (await all.execute(read.q)).rows[0]!.state
  }
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(read.q)
  return rows[0]!.data_version
}
