import { sql } from 'kysely'
import type { Reader, Writer } from '../engine/database.ts'
import { appendToFeeds, type Change } from '../feed/changes.ts'

// Whoever leaves a room, or was in one that is deleted, sees nothing of it from that transaction on. The messages that the feed has
// are ended in parts, each in a unit that writes for that account alone.

interface Ended {
  user_id: number
  room_id: number
  ended_id: number
}

/** Ends the membership of an account, or of all members. */
export async function endMemberships(tx: Writer, { room, user }: { room: number; user?: number }): Promise<void> {
  const whose = sql`room_id = ${room}${user === undefined ? sql`` : sql` and user_id = ${user}`}`
  await sql`insert into ended_memberships (user_id, room_id) select user_id, room_id from room_members where ${whose}
    on conflict (user_id, room_id) do update set ended_id = 0`.execute(tx.q)
  await sql`delete from room_members where ${whose}`.execute(tx.q)
}

/** Whether the feeds of some of these accounts still have messages of a room that they left. */
export async function areEnding(on: Reader, room: number, users: readonly number[]): Promise<boolean> {
  const query = on.q.selectFrom('ended_memberships').select('user_id').where('room_id', '=', room)
  return (await query.where('user_id', 'in', users).limit(1).execute()).length > 0
}

/** Leaves what these feeds still have of a room, because the accounts are members again. */
export const stopEnding = (tx: Writer, room: number, users: readonly number[]) =>
  tx.q.deleteFrom('ended_memberships').where('room_id', '=', room).where('user_id', 'in', users).execute()

/** Accounts of which a feed has something to end, of one room or of all; at most `limit`. */
export async function accountsToEnd(on: Reader, limit: number, room?: number): Promise<number[]> {
  const query = on.q.selectFrom('ended_memberships').select('user_id').distinct()
  const some = room === undefined ? query : query.where('room_id', '=', room)
  return (await some.limit(limit).execute()).map(({ user_id }) => user_id)
}

/** The next entries of messages in the feed of an account, and whether each is of the room. */
async function entriesAfter(tx: Writer, { user_id, room_id, ended_id }: Ended, limit: number) {
  const { rows } = await sql<{ id: number; own: number }>`select c.row_id as id,
      case when s.room_id = ${room_id} or d.room_id = ${room_id} then 1 else 0 end as own
    from (
      select row_id from changes where user_id = ${user_id} and tbl = 'svc_messages' and row_id > ${ended_id} and deleted = 0
      order by row_id limit ${limit}
    ) c left join messages s on s.id = c.row_id left join deleted_messages d on d.message_id = c.row_id
    order by c.row_id`.execute(tx.q)
  return rows
}

/**
 * Ends messages of rooms in the feeds of accounts that were members, after examining at most `limit` entries; with the last message
 * of a room, the room. Returns what it examined, 0 if there is nothing left.
 */
export async function endInFeeds(
  tx: Writer,
  which: { users: readonly number[]; room?: number },
  limit: number,
  now: number,
): Promise<number> {
  const query = tx.q.selectFrom('ended_memberships').select(['user_id', 'room_id', 'ended_id'])
  const ofRoom = which.room === undefined ? query : query.where('room_id', '=', which.room)
  const ended = await ofRoom.where('user_id', 'in', which.users).orderBy('user_id').orderBy('room_id').execute()
  const changes = new Map<number, Change[]>()
  let examined = 0
  for (const membership of ended) {
    if (examined >= limit) break
    const { user_id: user, room_id: room } = membership
    const most = limit - examined
    const entries = await entriesAfter(tx, membership, most)
    const gone = entries.filter(({ own }) => own === 1).map(({ id: row }) => ({ table: 'svc_messages', row }))
    const isOver = entries.length < most
    if (isOver) gone.push({ table: 'svc_rooms', row: room })
    changes.set(user, [...(changes.get(user) ?? []), ...gone.map((change) => ({ ...change, deleted: true }))])
    const key = tx.q.deleteFrom('ended_memberships').where('user_id', '=', user).where('room_id', '=', room)
    if (isOver) await key.execute()
    else
      await tx.q
        .updateTable('ended_memberships')
        .set({ ended_id: entries.at(-1)!.id })
        .where('user_id', '=', user)
        .where('room_id', '=', room)
        .execute()
    examined += entries.length + 1
  }
  await appendToFeeds(tx, changes, now)
  return examined
}
