import { sql } from 'kysely'
import type { Reader, Writer } from '../engine/database.ts'

// What accounts deleted and overwrote and can still have back: their history.

export interface History {
  /** Of files in the trash and of old versions. */
  bytes: number
  /** Nodes in the trash, and old versions. */
  entries: number
}

/** Nodes of an account that are in the trash to stay; what is being removed, restored or copied is not. */
const trashed = (user: number) => sql`from nodes where user_id = ${user} and trash_id is not null
  and trash_id not in (select id from trash where state <> 'kept' and state <> 'marking')`

/** What the history of an account holds. */
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

/** The live files and folders of an account, its root among them. */
export async function liveNodes(on: Reader, user: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`select (select count(*) from nodes where user_id = ${user}) -
    (select count(*) from nodes where user_id = ${user} and trash_id is not null) as count`.execute(on.q)
  return Number(rows[0]!.count)
}

/** The oldest trash entry that holds something an account pays for, and whose trash it is in. */
export async function oldestTrash(on: Reader, user: number) {
  const { rows } = await sql<{
    id: number
    user_id: number
    at: number
  }>`select id, user_id, deleted_at as at from trash
    where id = (select min(trash_id) ${trashed(user)})`.execute(on.q)
  return rows[0]
}

/** The oldest versions that an account pays for. */
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
