import { sql } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// Deleted and overwritten files that an account can still restore: its history.

export interface History {
  bytes: number
  /** Nodes in the trash, and old versions. */
  entries: number
}

/** Nodes in the trash, without those being removed, restored or copied. */
const trashed = (user: number) => sql`from nodes where user_id = ${user} and trash_id is not null
  and trash_id not in (select id from trash where state <> 'kept' and state <> 'marking')`

const historyQuery = prepared<{ user: number }, History>(({ q, p }) => ({
  compile: () =>
    sql<History>`select sum(bytes) as bytes, sum(entries) as entries from (
      select coalesce(sum(size), 0) as bytes, count(*) as entries ${trashed(p.user)}
      union all select coalesce(sum(size), 0), count(*) from versions where user_id = ${p.user}
    ) parts`.compile(q),
}))

export async function historyOf(on: Reader, user: number): Promise<History> {
  const { bytes, entries } = (await first(historyQuery(on, { user })))!
  return { bytes: Number(bytes), entries: Number(entries) }
}

const liveNodesQuery = prepared<{ user: number }, { count: number }>(({ q, p }) => ({
  compile: () =>
    sql<{ count: number }>`select (select count(*) from nodes where user_id = ${p.user}) -
      (select count(*) from nodes where user_id = ${p.user} and trash_id is not null) as count`.compile(q),
}))

/** Live files and folders of an account, including its root. */
export const liveNodes = async (on: Reader, user: number): Promise<number> =>
  Number((await first(liveNodesQuery(on, { user })))!.count)

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
