import { sql } from 'kysely'
import type { Reader } from './database.ts'

// The processes of svc that are connected to a database, by `application_name`: `svc `, a random ID, and what the version knows.

/** Knows that feeds take over the changes of large rooms. */
const TAKES_OVER = 'rooms'
/** The first migration of a version that does. */
const LARGE_ROOMS = 16

/** The names of all processes of svc, for LIKE. */
export const NAMES = 'svc %'

/** The number of a migration: what `0016-room-feeds` begins with. */
export const migrationNumber = (migration: string): number => Number.parseInt(migration, 10)

/** The name of a process that knows the migrations up to a number. */
export const processName = (id: string, known: number): string => `svc ${id} schema-${known} ${TAKES_OVER}`

/** Whether a version is connected that does not know a migration. */
export async function hasOlderPeers({ engine, q }: Reader, migration: number): Promise<boolean> {
  if (engine === 'sqlite') return false
  const { rows } = await sql`select 1 from pg_stat_activity where datname = current_database()
    and application_name like ${NAMES}
    and case when application_name like '% schema-%' then substring(application_name from ' schema-([0-9]+)')::bigint
             when application_name like ${`% ${TAKES_OVER}`} then ${sql.lit(LARGE_ROOMS)} else 0 end < ${migration}
    limit 1`.execute(q)
  return rows.length > 0
}

/** Whether a version that does not take over the changes of large rooms is connected. */
export const lacksTakeOver = (on: Reader): Promise<boolean> => hasOlderPeers(on, LARGE_ROOMS)
