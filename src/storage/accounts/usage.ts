import { sql } from 'kysely'
import type { DataKind } from '../engine/data-kinds.ts'
import { allDataUsage } from '../engine/data-usage.ts'
import type { Reader, Writer } from '../engine/database.ts'

// Usage counted from the rows, beside the counters that quotas rely on.

/** An account's bytes by kind. Only live files count towards its quota. */
export interface CountedUsage {
  user_id: number
  username: string
  /** Bytes; -1 for unlimited, null for the default. */
  quota_bytes: number | null
  /** The counter that the quota is compared with. */
  used_bytes: number
  own_bytes: number
  /** Of the account's files in chat rooms. */
  room_bytes: number
  files: number
  trash_bytes: number
  versions_bytes: number
  /** Of data outside files, each kind with its own limit. */
  rows_bytes: number
  chat_bytes: number
  components_bytes: number
  assistant_bytes: number
}

/** Usage of all accounts, by name. Reads every node: for administrators, not for requests. */
export async function countedUsages(on: Reader): Promise<CountedUsage[]> {
  const nodes = on.q
    .selectFrom('nodes')
    .select([
      'user_id',
      sql<number>`sum(case when trash_id is null and room_id is null then size else 0 end)`.as('own_bytes'),
      sql<number>`sum(case when trash_id is null and room_id is not null then size else 0 end)`.as('room_bytes'),
      sql<number>`sum(case when trash_id is null and type = 'file' then 1 else 0 end)`.as('files'),
      sql<number>`sum(case when trash_id is not null then size else 0 end)`.as('trash_bytes'),
    ])
    .groupBy('user_id')
  const versions = on.q
    .selectFrom('versions')
    .select(({ fn }) => ['user_id', fn.sum<number>('size').as('versions_bytes')])
    .groupBy('user_id')
  const rows = await on.q
    .selectFrom('users as u')
    .innerJoin('counters as c', 'c.user_id', 'u.id')
    .leftJoin(nodes.as('n'), 'n.user_id', 'u.id')
    .leftJoin(versions.as('v'), 'v.user_id', 'u.id')
    .select(['u.id as user_id', 'u.username', 'u.quota_bytes', 'c.used_bytes'])
    .select(['n.own_bytes', 'n.room_bytes', 'n.files', 'n.trash_bytes', 'v.versions_bytes'])
    .orderBy('u.username')
    .execute()
  const kept = new Map((await allDataUsage(on)).map((row) => [`${row.user_id} ${row.kind}`, row.bytes]))
  const bytesOf = (user: number, kind: DataKind) => kept.get(`${user} ${kind}`) ?? 0
  return rows.map(({ own_bytes, room_bytes, files, trash_bytes, versions_bytes, ...row }) => ({
    ...row,
    own_bytes: Number(own_bytes),
    room_bytes: Number(room_bytes),
    files: Number(files),
    trash_bytes: Number(trash_bytes),
    versions_bytes: Number(versions_bytes),
    rows_bytes: bytesOf(row.user_id, 'rows'),
    chat_bytes: bytesOf(row.user_id, 'chat'),
    components_bytes: bytesOf(row.user_id, 'components'),
    assistant_bytes: bytesOf(row.user_id, 'assistant'),
  }))
}

/** A counter that differs from the rows. */
export interface CounterMismatch {
  user_id: number
  username: string
  /** According to the counter. */
  counted: number
  /** According to the rows. */
  actual: number
}

/** All wrong counters, or the one of an account. */
export async function counterMismatches(on: Reader, user?: number): Promise<CounterMismatch[]> {
  const live = on.q
    .selectFrom('nodes')
    .select(({ fn }) => ['user_id', fn.sum<number>('size').as('bytes')])
    .where('trash_id', 'is', null)
    .$if(user !== undefined, (query) => query.where('user_id', '=', user!))
    .groupBy('user_id')
  const rows = await on.q
    .selectFrom('counters as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .leftJoin(live.as('n'), 'n.user_id', 'c.user_id')
    .select(['c.user_id', 'u.username', 'c.used_bytes as counted', 'n.bytes as actual'])
    .where(({ eb, fn, val }) => eb('c.used_bytes', '!=', fn.coalesce('n.bytes', val(0))))
    .$if(user !== undefined, (query) => query.where('c.user_id', '=', user!))
    .orderBy('u.username')
    .execute()
  return rows.map((row) => ({ ...row, actual: Number(row.actual) }))
}

export const setUsedBytes = (tx: Writer, user: number, bytes: number) =>
  tx.q.updateTable('counters').set({ used_bytes: bytes }).where('user_id', '=', user).execute()

/** The next accounts after an ID, by ID. */
export async function accountsAfter(on: Reader, after: number, limit: number): Promise<number[]> {
  const query = on.q.selectFrom('counters').select('user_id').where('user_id', '>', after)
  return (await query.orderBy('user_id').limit(limit).execute()).map(({ user_id }) => user_id)
}

/** Records the usage of accounts on a day. A record of that day is written only if it differs. */
export const noteUsage = (tx: Writer, accounts: readonly number[], day: number) =>
  sql`insert into usage_history (user_id, day, used_bytes)
    select user_id, ${day}, used_bytes from counters where user_id in (${sql.join(accounts)})
    on conflict (user_id, day) do update set used_bytes = excluded.used_bytes
    where usage_history.used_bytes <> excluded.used_bytes`.execute(tx.q)

export interface NotedUsage {
  user_id: number
  day: number
  used_bytes: number
}

/** Recorded usage from a day on, oldest first. */
export const usageSince = (on: Reader, day: number): Promise<NotedUsage[]> =>
  on.q
    .selectFrom('usage_history')
    .select(['user_id', 'day', 'used_bytes'])
    .where('day', '>=', day)
    .orderBy('user_id')
    .orderBy('day')
    .execute()

export const forgetUsage = (tx: Writer, accounts: readonly number[], before: number) =>
  tx.q.deleteFrom('usage_history').where('user_id', 'in', accounts).where('day', '<', before).execute()
