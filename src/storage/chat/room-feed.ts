import { sql, type RawBuilder } from 'kysely'
import { prepared, type Writer } from '../engine/database.ts'
import { lacksTakeOver } from '../engine/postgres-peers.ts'
import { areEnding, endInFeeds, stopEnding } from './ended-memberships.ts'
import type { Entered } from './rooms.ts'

// Changes in a room appear in the feed of each member. In small rooms one statement advances all feeds and another writes the changes.
// In large ones only the time of the change is noted, and each feed takes it over later (`pending-changes.ts`). The room's row is
// locked first, so that changes of one room are serialized.

/** Members of a room from which on their feeds take its changes over. */
const LARGE = 33

interface Moved {
  user_id: number
  seq: number
}

function notifyFeeds(tx: Writer, moved: readonly Moved[]): void {
  for (const { user_id, seq } of moved) tx.notify('feed', user_id, seq)
}

const advanceQuery = prepared<{ room: number; count: number }, Moved>(({ q, p }) =>
  q
    .updateTable('counters')
    .set({ seq: sql`seq + ${p.count}` })
    .where('user_id', 'in', q.selectFrom('room_members').select('user_id').where('room_id', '=', p.room))
    .returning(['user_id', 'seq']),
)

/** As for every change: a recreated row gets a new `born`. */
const replaceOlder = sql`on conflict (user_id, tbl, row_id) do update set
  seq = excluded.seq,
  born = case when changes.deleted = 1 and excluded.deleted = 0 then excluded.seq else changes.born end,
  deleted = excluded.deleted,
  changed_at = excluded.changed_at`

interface Row {
  [name: string]: unknown
  room: number
  table: 'svc_rooms' | 'svc_messages'
  row: number
  deleted: number
  now: number
}

const recordQuery = prepared<Row, never>(({ q, p }) => ({
  compile: () =>
    sql<never>`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
      select c.user_id, ${p.table}, ${p.row}, c.seq, c.seq, ${p.deleted}, ${p.now}
      from room_members m join counters c on c.user_id = m.user_id
      where m.room_id = ${p.room} ${replaceOlder}`.compile(q),
}))

const deferQuery = prepared<{ room: number }, { id: number }>(({ q, p }) =>
  q
    .updateTable('rooms')
    .set({ feed_stamp: sql`stamp` })
    .where('id', '=', p.room)
    .where('feed_stamp', 'is not', null)
    .returning('id'),
)

/** Notes that a room changed at its current time, for the feeds to take it over; false for small rooms. */
const defer = async (tx: Writer, room: number): Promise<boolean> => (await deferQuery(tx, { room })).length > 0

const deferName = (tx: Writer, room: number) =>
  tx.q
    .updateTable('rooms')
    .set({ renamed_at: sql`stamp` })
    .where('id', '=', room)
    .execute()

/**
 * From now on the feeds of the members take over what changes in the room; everything before is in them. False while a server of an
 * older version is connected, which does not take over.
 */
async function becomeLarge(tx: Writer, room: number): Promise<boolean> {
  if (await lacksTakeOver(tx)) return false
  await tx.q
    .updateTable('rooms')
    .set({ feed_stamp: sql`stamp` })
    .where('id', '=', room)
    .execute()
  await tx.q
    .updateTable('room_members')
    .set({ feed_stamp: sql`(select stamp from rooms where rooms.id = room_members.room_id)` })
    .where('room_id', '=', room)
    .execute()
  return true
}

/** Records a change of a room, or of one of its messages, that has the room's current time, for every member. */
export async function recordForMembers(
  tx: Writer,
  { id: room, feed_stamp }: Pick<Entered, 'id' | 'feed_stamp'>,
  change: { table: Row['table']; row: number; deleted: boolean },
  now: number,
): Promise<void> {
  if (feed_stamp !== null) {
    await defer(tx, room)
    if (change.table === 'svc_rooms') await deferName(tx, room)
    return
  }
  const moved = await advanceQuery(tx, { room, count: 1 })
  notifyFeeds(tx, moved)
  await recordQuery(tx, { ...change, room, deleted: change.deleted ? 1 : 0, now })
  if (moved.length >= LARGE) await becomeLarge(tx, room)
}

type Part = RawBuilder<unknown>

const membersOf = (room: number, user?: number): Part =>
  sql`select user_id from room_members where room_id = ${room}${user === undefined ? sql`` : sql` and user_id = ${user}`}`

const messagesIn = (room: number): Part => sql`messages where room_id = ${room}`

async function count(tx: Writer, messages: Part): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${messages}`.execute(tx.q)
  return Number(rows[0]!.count)
}

async function advanceFeeds(tx: Writer, members: Part, by: Part): Promise<void> {
  const { rows } = await sql<Moved>`update counters set seq = seq + ${by}
    where user_id in (${members}) returning user_id, seq`.execute(tx.q)
  notifyFeeds(tx, rows)
}

interface MessageChanges {
  members: Part
  messages: Part
  count: number
  deleted: boolean
  /** Restricts the pairs of a feed `c` and a message `s`. */
  where?: Part
}

/** Records one change per message in each feed, in order, at its last positions. */
const recordMessages = (
  tx: Writer,
  { members, messages, count: several, deleted, where = sql`` }: MessageChanges,
  now: number,
) =>
  sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select c.user_id, 'svc_messages', s.id, c.seq - ${several} + s.place, c.seq - ${several} + s.place, ${deleted ? 1 : 0}, ${now}
    from counters c cross join (select id, timestamp, row_number() over (order by timestamp) as place from ${messages}) s
    where c.user_id in (${members}) ${where} ${replaceOlder}`.execute(tx.q)

const recordRoomRow = (tx: Writer, { room, members, back, deleted }: RoomChange, now: number) =>
  sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select c.user_id, 'svc_rooms', ${room}, c.seq - ${back}, c.seq - ${back}, ${deleted ? 1 : 0}, ${now}
    from counters c where c.user_id in (${members}) ${replaceOlder}`.execute(tx.q)

interface RoomChange {
  room: number
  members: Part
  back: number
  deleted: boolean
}

/** Enters a room with all messages in the feed of a member, or of all. */
export async function beginRoom(
  tx: Writer,
  { room, user }: { room: number; user?: number },
  now: number,
): Promise<void> {
  const [members, messages] = [membersOf(room, user), messagesIn(room)]
  const several = await count(tx, messages)
  await advanceFeeds(tx, members, sql`${several + 1}`)
  await recordRoomRow(tx, { room, members, back: several, deleted: false }, now)
  await recordMessages(tx, { members, messages, count: several, deleted: false }, now)
}

/** Most messages that are entered at once for members who join, counted for each of them. */
const MOST_ENTERED = 1_000

/**
 * Enters a room in the feeds of new members. Few messages are entered too; of a large room, and of one with many messages, which becomes
 * large, each feed takes them over. So does the feed of someone who comes back before all messages were ended in it: what it still has is
 * entered once more.
 */
export async function beginMemberships(
  tx: Writer,
  { id: room, feed_stamp }: Pick<Entered, 'id' | 'feed_stamp'>,
  users: readonly number[],
  now: number,
): Promise<void> {
  if (users.length === 0) return
  const isUnfinished = await areEnding(tx, room, users)
  const isMuch = async () => (await count(tx, messagesIn(room))) * users.length > MOST_ENTERED
  const takesOver = feed_stamp !== null || ((isUnfinished || (await isMuch())) && (await becomeLarge(tx, room)))
  if (!takesOver) {
    while (isUnfinished && (await endInFeeds(tx, { users, room }, MOST_ENTERED, now)) > 0);
    for (const user of users) await beginRoom(tx, { room, user }, now)
    return
  }
  if (isUnfinished) await stopEnding(tx, room, users)
  await tx.q
    .updateTable('room_members')
    .set({ feed_stamp: 0 })
    .where('room_id', '=', room)
    .where('user_id', 'in', users)
    .execute()
  const members = sql.join(users)
  await advanceFeeds(tx, members, sql`1`)
  await recordRoomRow(tx, { room, members, back: 0, deleted: false }, now)
}

/** Records the end of some messages, or their current state, at the room's current time, for every member. */
export async function recordSome(
  tx: Writer,
  { room, messages, deleted }: { room: number; messages: readonly number[]; deleted: boolean },
  now: number,
): Promise<void> {
  const isDeferred = await defer(tx, room)
  // Deletions have their times.
  if (isDeferred && deleted) return
  const members = membersOf(room)
  await advanceFeeds(tx, members, sql`${messages.length}`)
  const some = sql`messages where id in (${sql.join(messages)})`
  // A feed that will take a message over gets its current state with it.
  const where = isDeferred
    ? sql`and exists (select 1 from room_members m
        where m.room_id = ${room} and m.user_id = c.user_id and m.feed_stamp >= s.timestamp)`
    : sql``
  await recordMessages(tx, { members, messages: some, count: messages.length, deleted, where }, now)
}
