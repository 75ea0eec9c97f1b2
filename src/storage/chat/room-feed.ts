import { sql, type RawBuilder } from 'kysely'
import { prepared, type Writer } from '../engine/database.ts'

// Changes in a room appear in the feed of each member. One statement advances all feeds and another writes the changes,
// however many members there are. The room's row is locked first, so that changes of one room are serialized.

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
const takeOver = sql`on conflict (user_id, tbl, row_id) do update set
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
      where m.room_id = ${p.room} ${takeOver}`.compile(q),
}))

/** Records a change of a room or of one of its messages in the feed of every member. */
export async function recordForMembers(
  tx: Writer,
  change: { room: number; table: Row['table']; row: number; deleted: boolean },
  now: number,
): Promise<void> {
  notifyFeeds(tx, await advanceQuery(tx, { room: change.room, count: 1 }))
  await recordQuery(tx, { ...change, deleted: change.deleted ? 1 : 0, now })
}

type Part = RawBuilder<unknown>

const membersOf = (room: number, user?: number): Part =>
  sql`select user_id from room_members where room_id = ${room}${user === undefined ? sql`` : sql` and user_id = ${user}`}`

const messagesIn = (room: number): Part => sql`messages where room_id = ${room}`

async function count(tx: Writer, messages: Part): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${messages}`.execute(tx.q)
  return Number(rows[0]!.count)
}

async function advanceFeeds(tx: Writer, members: Part, by: number): Promise<void> {
  const { rows } = await sql<Moved>`update counters set seq = seq + ${by}
    where user_id in (${members}) returning user_id, seq`.execute(tx.q)
  notifyFeeds(tx, rows)
}

/** Records one change per message in each feed, in order, at the positions that begin `back` before its head. */
const recordMessages = (
  tx: Writer,
  { members, messages, back, deleted }: { members: Part; messages: Part; back: number; deleted: boolean },
  now: number,
) =>
  sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select c.user_id, 'svc_messages', s.id, c.seq - ${back} + s.place, c.seq - ${back} + s.place, ${deleted ? 1 : 0}, ${now}
    from counters c cross join (select id, row_number() over (order by timestamp) as place from ${messages}) s
    where c.user_id in (${members}) ${takeOver}`.execute(tx.q)

/** Adds a room with all messages to its members' feeds, or ends it there. Call while they are members. */
export async function recordRoom(
  tx: Writer,
  { room, user, deleted }: { room: number; user?: number; deleted: boolean },
  now: number,
): Promise<void> {
  const [members, messages] = [membersOf(room, user), messagesIn(room)]
  const several = await count(tx, messages)
  await advanceFeeds(tx, members, several + 1)
  // A room appears before its messages and ends after them.
  const back = deleted ? 0 : several
  await recordMessages(tx, { members, messages, back: deleted ? several + 1 : several, deleted }, now)
  await sql`insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at)
    select c.user_id, 'svc_rooms', ${room}, c.seq - ${back}, c.seq - ${back}, ${deleted ? 1 : 0}, ${now}
    from counters c where c.user_id in (${members}) ${takeOver}`.execute(tx.q)
}

/** Records the end of some messages, or their current state, in the members' feeds. */
export async function recordSome(
  tx: Writer,
  { room, messages, deleted }: { room: number; messages: readonly number[]; deleted: boolean },
  now: number,
): Promise<void> {
  const members = membersOf(room)
  await advanceFeeds(tx, members, messages.length)
  const some = sql`messages where id in (${sql.join(messages)})`
  await recordMessages(tx, { members, messages: some, back: messages.length, deleted }, now)
}
