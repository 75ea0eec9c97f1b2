import { sql } from 'kysely'
import type { Database } from '../../src/storage/engine/database.ts'

/** A number that changes with every commit that changed anything, whoever made it; `database` must not be the one that writes. */
export async function commitsSeenBy({ read }: Database): Promise<number> {
  if (read.engine === 'postgres') {
    const last = sql<{ xid: number }>`select xid::text::bigint as xid from pg_last_committed_xact()`
    return (await last.execute(read.q)).rows[0]!.xid
  }
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(read.q)
  return rows[0]!.data_version
}
