import { sql } from 'kysely'
import { prepared, type Reader, type Writer } from '../engine/database.ts'
import { appendToFeeds, type Change } from '../feed/changes.ts'
import { endInFeeds } from './ended-memberships.ts'

// Changes of large rooms that the feeds of their members have not taken over. The times of a room are its sequence: messages,
// edits and deletions have theirs, and a membership notes up to which one its feed has them.

/** A large room of an account, and whether the feed lacks changes of it. */
export interface LargeRoom {
  room_id: number
  isBehind: boolean
}

/** Whether the feed of a membership `m` lacks changes of its room `r`; never of a small one. */
const isBehind = sql<boolean>`r.feed_stamp > m.feed_stamp`

const roomsQuery = prepared<{ user: number }, { room_id: number; behind: number }>(({ q, p }) =>
  q
    .selectFrom('room_members as m')
    .innerJoin('rooms as r', 'r.id', 'm.room_id')
    .select(['m.room_id', sql<number>`case when ${isBehind} then 1 else 0 end`.as('behind')])
    .where('m.user_id', '=', p.user)
    .where('r.feed_stamp', 'is not', null)
    .unionAll(
      q
        .selectFrom('ended_memberships')
        .select(['room_id', sql<number>`1`.as('behind')])
        .where('user_id', '=', p.user),
    ),
)

/** Large rooms of a member, and rooms left; `isBehind` if the feed does not have all their changes yet. */
export const largeRoomsOf = async (on: Reader, user: number): Promise<LargeRoom[]> =>
  (await roomsQuery(on, { user })).map(({ room_id, behind }) => ({ room_id, isBehind: behind === 1 }))

/** Heads of several accounts, for long polls: one more while there is something to take over. */
export async function headsWithPending(on: Reader, users: number[]): Promise<{ id: number; head: number }[]> {
  const { rows } = await sql<{ id: number; head: number }>`select user_id as id, seq + case when exists (
      select 1 from room_members m join rooms r on r.id = m.room_id
      where m.user_id = counters.user_id and ${isBehind}
    ) or exists (select 1 from ended_memberships e where e.user_id = counters.user_id) then 1 else 0 end as head from counters where user_id in (${sql.join(users)})`.execute(
    on.q,
  )
  return rows
}

/** Accounts whose feeds lack deletions from before a time, which are to be forgotten; at most `limit`. */
export async function accountsBehind(on: Reader, before: number, limit: number): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`select distinct m.user_id from room_members m
    join rooms r on r.id = m.room_id and ${isBehind}
    where exists (
      select 1 from deleted_messages d
      where d.room_id = m.room_id and d.deleted_at > m.feed_stamp and d.deleted_at < ${before}
    ) limit ${limit}`.execute(on.q)
  return rows.map(({ user_id }) => user_id)
}

/** What several accounts, of which each feed ends at `after`, lack of a room. */
interface Gap {
  room: number
  after: number
  /** From when on edits and names count; who joined later gets messages as they were then. */
  since: number
  upTo: number
  users: number[]
}

async function gapsOf(tx: Writer, users: readonly number[]): Promise<Gap[]> {
  const rows = await tx.q
    .selectFrom('room_members as m')
    .innerJoin('rooms as r', 'r.id', 'm.room_id')
    .innerJoin('counters as c', 'c.user_id', 'm.user_id')
    .select(['m.user_id', 'm.room_id', 'm.feed_stamp as after', 'm.joined_at', 'r.feed_stamp as upTo'])
    .where('m.user_id', 'in', users)
    .where(isBehind)
    .orderBy('m.feed_stamp')
    .orderBy('m.room_id')
    .execute()
  const gaps = new Map<string, Gap>()
  for (const { user_id, room_id: room, after, joined_at, upTo } of rows) {
    const since = Math.max(after, joined_at)
    const key = `${room} ${after} ${since}`
    const gap = gaps.get(key) ?? { room, after, since, upTo: upTo!, users: [] }
    gaps.set(key, gap)
    gap.users.push(user_id)
  }
  return [...gaps.values()]
}

interface Pending extends Change {
  at: number
}

interface PendingRow {
  tbl: string
  row_id: number
  deleted: number
  at: number
}

const pendingQuery = prepared<{ room: number; after: number; since: number; upTo: number; limit: number }, PendingRow>(
  ({ q, p: { room, after, since, upTo, limit } }) => ({
    compile: () =>
      sql<PendingRow>`select 'svc_messages' as tbl, id as row_id, 0 as deleted, timestamp as at from messages
          where room_id = ${room} and timestamp > ${after} and timestamp <= ${upTo}
        union all select 'svc_messages', id, 0, edited_at from messages
          where room_id = ${room} and changed_at > ${since} and edited_at > ${since} and edited_at <= ${upTo}
        union all select 'svc_messages', message_id, 1, deleted_at from deleted_messages
          where room_id = ${room} and deleted_at > ${after} and deleted_at <= ${upTo}
        union all select 'svc_rooms', id, 0, renamed_at from rooms
          where id = ${room} and renamed_at > ${since} and renamed_at <= ${upTo}
        order by at limit 0 + ${limit}`.compile(q),
  }),
)

/** Messages of `ids` that are in the feeds of accounts, as `account message`. */
async function presentIn(tx: Writer, users: number[], ids: number[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx.q
    .selectFrom('changes')
    .select(['user_id', 'row_id'])
    .where('user_id', 'in', users)
    .where('tbl', '=', 'svc_messages')
    .where('row_id', 'in', ids)
    .where('deleted', '=', sql.lit(0))
    .execute()
  return new Set(rows.map(({ user_id, row_id }) => `${user_id} ${row_id}`))
}

/** Changes per unit of work. */
const ROWS = 1_000
/** Accounts per unit of work. */
export const ACCOUNTS = 64

/**
 * Enters changes of large rooms in the feeds of at most `ACCOUNTS` accounts, in the order of each room, and then ends those that they
 * left. Returns whether there may be more.
 */
export async function takeOver(tx: Writer, users: readonly number[], now: number): Promise<boolean> {
  const changes = new Map<number, Pending[]>()
  let left = ROWS
  let isPart = false
  const gaps = await gapsOf(tx, users)
  for (const { room, after, since, upTo, users: members } of gaps) {
    if (left <= 0) break
    const limit = Math.max(1, Math.floor(left / members.length))
    const pending = (await pendingQuery(tx, { room, after, since, upTo, limit })).map(
      ({ tbl, row_id, deleted, at }) => ({
        table: tbl,
        row: row_id,
        deleted: deleted === 1,
        at,
      }),
    )
    // Each time belongs to one change, so the part ends with it.
    const isFull = pending.length === limit
    isPart ||= isFull
    const end = isFull ? pending.at(-1)!.at : upTo
    const gone = pending.flatMap(({ row, deleted }) => (deleted ? [row] : []))
    const present = await presentIn(tx, members, gone)
    for (const user of members) {
      // A message that came and went meanwhile was never in the feed.
      const own = pending.filter(({ row, deleted }) => !deleted || present.has(`${user} ${row}`))
      changes.set(user, [...(changes.get(user) ?? []), ...own])
    }
    left -= pending.length * members.length
    await tx.q
      .updateTable('room_members')
      .set({ feed_stamp: end })
      .where('room_id', '=', room)
      .where('user_id', 'in', members)
      .execute()
  }
  // Across rooms by time, too.
  for (const own of changes.values()) own.sort((a, b) => a.at - b.at)
  await appendToFeeds(tx, changes, now)
  if (left > 0) left -= await endInFeeds(tx, { users }, left, now)
  return isPart || left <= 0
}
