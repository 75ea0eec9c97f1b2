import { sql, type RawBuilder } from 'kysely'
import { advance, recordAll } from '../feed/changes.ts'
import type { Reader, Writer } from '../engine/database.ts'

// Compares every account's feed with what the account sees, and repairs it. Feeds of accounts being removed are not
// read.

type Part = RawBuilder<unknown>

/** What accounts see of a table: one row per account and row. */
interface View {
  table: string
  from: Part
  user: Part
  row: Part
}

/** `early`: with messages of large rooms that the feed has not taken over, but can have from an earlier membership. */
const viewOf = (table: string, early = false): View => {
  if (table === 'svc_files') {
    const live = sql`nodes r where r.parent_id is not null and r.room_id is null and r.trash_id is null`
    return { table, from: live, user: sql`r.user_id`, row: sql`r.id` }
  }
  if (table === 'svc_rooms')
    return { table, from: sql`room_members r where true`, user: sql`r.user_id`, row: sql`r.room_id` }
  if (table === 'svc_messages') {
    // Feeds take over the messages of large rooms later.
    const joined = sql`messages s join room_members r on r.room_id = s.room_id join rooms o on o.id = s.room_id
      where ${early ? sql`true` : sql`(o.feed_stamp is null or s.timestamp <= r.feed_stamp)`}`
    return { table, from: joined, user: sql`r.user_id`, row: sql`s.id` }
  }
  return { table, from: sql`${sql.table(table)} r where true`, user: sql`r.user_id`, row: sql`r.id` }
}

const isNotBeingRemoved = (user: Part): Part => sql`not exists (select 1 from removals g where g.user_id = ${user})`

/** A deletion in a large room that the feed takes over later. */
const isNotPendingDeletion = sql`and not exists (
  select 1 from deleted_messages d join room_members m on m.room_id = d.room_id join rooms o on o.id = d.room_id
  where d.message_id = c.row_id and m.user_id = c.user_id and o.feed_stamp is not null and d.deleted_at > m.feed_stamp)`

/** Something of a room that the account left, which the feed ends later. */
const isNotEnding = (table: string): Part => {
  if (table !== 'svc_messages' && table !== 'svc_rooms') return sql``
  const ofRoom = (from: Part, id: Part) =>
    sql`exists (select 1 from ${from} s where s.room_id = e.room_id and ${id} = c.row_id)`
  const isOf =
    table === 'svc_rooms'
      ? sql`e.room_id = c.row_id`
      : sql`(${ofRoom(sql`messages`, sql`s.id`)} or ${ofRoom(sql`deleted_messages`, sql`s.message_id`)})`
  return sql`and not exists (select 1 from ended_memberships e where e.user_id = c.user_id and ${isOf})`
}

/** A change in an account's feed. */
export interface FeedEntry {
  user_id: number
  tbl: string
  row_id: number
}

/** Rows that an account sees and its feed lacks, at most `limit`. */
export async function rowsMissingFromFeed(on: Reader, table: string, limit: number): Promise<FeedEntry[]> {
  const { from, user, row } = viewOf(table)
  const { rows } =
    await sql<FeedEntry>`select ${user} as user_id, ${sql.lit(table)} as tbl, ${row} as row_id from ${from}
    and not exists (
      select 1 from changes c where c.user_id = ${user} and c.tbl = ${table} and c.row_id = ${row} and c.deleted = 0
    ) and ${isNotBeingRemoved(user)} limit ${limit}`.execute(on.q)
  return rows
}

/** Changes of rows that the account does not see and that are not tombstones, at most `limit`. */
export async function unexpectedChanges(on: Reader, table: string, limit: number): Promise<FeedEntry[]> {
  const { from, user, row } = viewOf(table, true)
  const { rows } = await sql<FeedEntry>`select c.user_id, c.tbl, c.row_id from changes c
    where c.tbl = ${table} and c.deleted = 0
    and not exists (select 1 from ${from} and ${user} = c.user_id and ${row} = c.row_id)
    and ${isNotBeingRemoved(sql`c.user_id`)} ${table === 'svc_messages' ? isNotPendingDeletion : sql``}
    ${isNotEnding(table)} limit ${limit}`.execute(on.q)
  return rows
}

/** Accounts whose feed has changes after its head, and the position of the last one. */
export async function overrunHeads(
  on: Reader,
): Promise<{ user_id: number; username: string; head: number; last: number }[]> {
  const { rows } = await sql<{ user_id: number; username: string; head: number; last: number }>`
    select u.id as user_id, u.username, k.seq as head, m.last from counters k join users u on u.id = k.user_id
    join (select user_id, max(seq) as last from changes group by user_id) m on m.user_id = k.user_id
    where m.last > k.seq order by u.username`.execute(on.q)
  return rows
}

/** Positions with more than one change, at most `limit`. */
export async function sharedPositions(on: Reader, limit: number): Promise<{ user_id: number; seq: number }[]> {
  const rows = await on.q
    .selectFrom('changes')
    .select(['user_id', 'seq'])
    .groupBy(['user_id', 'seq'])
    .having(({ fn }) => fn.countAll(), '>', 1)
    .limit(limit)
    .execute()
  return rows
}

/** The changes at one position, all but the first of which must move. */
export const changesAt = (on: Reader, { user_id, seq }: { user_id: number; seq: number }) =>
  on.q
    .selectFrom('changes')
    .select(['user_id', 'tbl', 'row_id', 'deleted'])
    .where('user_id', '=', user_id)
    .where('seq', '=', seq)
    .orderBy('tbl')
    .orderBy('row_id')
    .execute()

/** Appends changes to their feeds, as if they happened now. */
export async function recordAgain(
  tx: Writer,
  spots: readonly (FeedEntry & { deleted: boolean })[],
  now: number,
): Promise<void> {
  for (const user of new Set(spots.map(({ user_id }) => user_id))) {
    const own = spots.filter(({ user_id }) => user_id === user)
    const { seq } = await advance(tx, user, own.length)
    const changes = own.map(({ tbl: table, row_id: row, deleted }) => ({ table, row, deleted }))
    await recordAll(tx, user, seq, now, changes)
  }
}

export async function raiseHead(tx: Writer, { user_id, last }: { user_id: number; last: number }): Promise<void> {
  await tx.q.updateTable('counters').set({ seq: last }).where('user_id', '=', user_id).where('seq', '<', last).execute()
  tx.notify('feed', user_id, last)
}
