import { sql } from 'kysely'
import type { Damage, Database, Reader } from './database.ts'

/** Constraints and indexes that Postgres has marked as not valid. */
async function damageOf(on: Reader): Promise<Damage[]> {
  const { rows } = await sql<{ name: string; tbl: string }>`
    select conname as name, conrelid::regclass::text as tbl from pg_constraint
    where not convalidated and connamespace = current_schema()::regnamespace
    union all
    select indexrelid::regclass::text, indrelid::regclass::text from pg_index
    where not indisvalid and indrelid in (
      select oid from pg_class where relnamespace = current_schema()::regnamespace
    ) limit 100`.execute(on.q)
  return rows.map(({ name, tbl }) => ({ text: `${name} of ${tbl} is not valid: rows may break it.` }))
}

/** Leaves out tables that another connection examines or alters. */
async function refreshStatistics({ q }: Reader): Promise<void> {
  const tables = (await q.introspection.getTables()).map(({ name }) => sql.table(name))
  await sql`analyze (skip_locked) ${sql.join(tables)}`.execute(q)
}

/** Rewrites every table; blocks other writers. Returns the bytes of the database before and after. */
async function vacuum({ q }: Reader): Promise<{ before: number; after: number }> {
  const size = async () => {
    const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(q)
    return rows[0]!.bytes
  }
  const before = await size()
  for (const { name } of await q.introspection.getTables())
    await sql`vacuum (full, analyze) ${sql.table(name)}`.execute(q)
  return { before, after: await size() }
}

/** The clock of the server, epoch ms. */
async function clockOf({ q }: Reader): Promise<number> {
  const { rows } = await sql<{ now: number }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(q)
  return rows[0]!.now
}

/** Facts for `doctor`. */
async function describe({ q }: Reader): Promise<Record<string, string>> {
  const { rows } = await sql<Record<string, string>>`select 'PostgreSQL' as engine,
    current_setting('server_version') as version, current_setting('fsync') as fsync, 'on' as synchronous_commit,
    current_setting('full_page_writes') as full_page_writes`.execute(q)
  return rows[0]!
}

/** Maintenance operations for administrators. */
export const maintenanceOf = (
  read: Reader,
): Pick<Database, 'damage' | 'refreshStatistics' | 'vacuum' | 'describe' | 'clock'> => ({
  damage: () => damageOf(read),
  refreshStatistics: () => refreshStatistics(read),
  vacuum: () => vacuum(read),
  clock: () => clockOf(read),
  describe: () => describe(read),
})
