import { sql } from 'kysely'
import type { Reader, Writer } from '../engine/database.ts'

// Deleted and overwritten files that an account can still restore: its history.

export interface History {
  bytes: number
  /** Nodes in the trash, and old versions. */
  entries: number
}

/** Nodes in the trash, without those being removed, restored or copied. */
const trashed = (user: number) => sql`from nodes where user_id = ${user} and trash_id is not null
  and trash_id not in (select id from trash where state <> 'kept' and state <> 'marking')`

export async function historyOf(on: Reader, user: number): Promise<History> {
  const { rows } = await sql<{
    bytes: number
    entries: number
  }>`select sum(bytes) as bytes, sum(entries) as entries from (
      select coalesce(sum(size), 0) as bytes, count(*) as entries ${trashed(user)}
      union all select coalesce(sum(size), 0), count(*) from versions where user_id = ${user}
    ) parts`.execute(on.q)
  return { bytes: Number(rows[0]!.bytes), entries: Number(rows[0]!.entries) }
}

/** Live files and folders of an account, including its root. */
export async function liveNodes(on: Reader, user: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`select (select count(*) from nodes where user_id = ${user}) -
    (select count(*) from nodes where user_id = ${user} and trash_id is not null) as count`.execute(on.q)
  return Number(rows[0]!.count)
}

/** The oldest trash entry with something that counts for the account, and whose trash it is in. */
export async function oldestTrash(on: Reader, user: number) {
  const { rows } = await sql<{
    id: number
    user_id: number
    at: number
  }>`select id, user_id, deleted_at as at from trash
    where id = (select min(trash_id) ${trashed(user)})`.execute(on.q)
  return rows[0]
}

/** The oldest versions that count for an account. */
export const oldestVersions = (on: Reader, user: number, limit: number) =>
  on.q
    .selectFrom('versions')
    .select(['id', 'size', 'replaced_at as at'])
    .where('user_id', '=', user)
    .orderBy('id')
    .limit(limit)
    .execute()

export const removeVersions = (tx: Writer, ids: readonly number[]) =>
  tx.q.deleteFrom('versions').where('id', 'in', ids).execute()
