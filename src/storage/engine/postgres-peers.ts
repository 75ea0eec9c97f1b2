import { sql } from 'kysely'
import type { Reader } from './database.ts'

// The processes of svc that are connected to a database, by `application_name`: `svc `, a random ID, and what the version knows.

/** Knows that feeds take over the changes of large rooms. */
const TAKES_OVER = 'rooms'

/** The names of all processes of svc, for LIKE. */
export const NAMES = 'svc %'

export const processName = (id: string): string => `svc ${id} ${TAKES_OVER}`

/** Whether a version that does not take over the changes of large rooms is connected. */
export async function hasOlderPeers({ engine, q }: Reader): Promise<boolean> {
  if (engine === 'sqlite') return false
  const { rows } = await sql`select 1 from pg_stat_activity where datname = current_database()
    and application_name like ${NAMES} and application_name not like ${`% ${TAKES_OVER}`} limit 1`.execute(q)
  return rows.length > 0
}
