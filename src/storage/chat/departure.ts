import { sql, type SqlBool } from 'kysely'
import { recordForMembers, recordSome } from './room-feed.ts'
import { deleteMember, deleteRoom, hasMembers, nextStamp, renameRoom, takeRoom } from './rooms.ts'
import { moveMessageCounts } from '../engine/data-usage.ts'
import type { Writer } from '../engine/database.ts'
import { FORMER_USER, formerUser } from '../accounts/former-user.ts'
import { emptyRoom, type Removal } from '../accounts/removals.ts'

/**
 * Takes an account that is being removed out of the chat, some rows at a time: its messages end for everybody who reads
 * them, or stay in rooms of others as those of the former user, and rooms that nobody would be in any more are removed.
 * Returns how many rows it wrote, 0 when the account is out.
 */
export async function departFromChat(tx: Writer, removal: Removal, limit: number, now: number): Promise<number> {
  const { user_id: user, keeps_messages } = removal
  return (
    (keeps_messages === 1 && (await passOnMessages(tx, user, limit, now))) ||
    (await endMessages(tx, user, limit, now)) ||
    leaveRoom(tx, removal, limit, now)
  )
}

/** Some messages of one author in one room. */
interface Some {
  room: number
  ids: number[]
  /** Rows that a change of them writes: each message is written into the feed of each member. */
  rows: number
}

/** Some messages of an account, all of one room; undefined when there are none. */
async function someMessages(tx: Writer, user: number, limit: number, isShared: boolean): Promise<Some | undefined> {
  const others = sql<SqlBool>`room_id in (select room_id from room_members where user_id <> ${user})`
  const found = await tx.q
    .selectFrom('messages')
    .select(['id', 'room_id'])
    .where('user_id', '=', user)
    .$if(isShared, (query) => query.where(others))
    .limit(limit)
    .execute()
  if (found.length === 0) return undefined
  const room = found[0]!.room_id
  const members = Math.max(1, await membersIn(tx, room))
  const ofRoom = found.filter(({ room_id }) => room_id === room)
  const ids = ofRoom.slice(0, Math.max(1, Math.floor(limit / members))).map(({ id }) => id)
  return { room, ids, rows: ids.length * members }
}

/** Moves a room on, by a moment of its own for each of some changes. Returns the moment before the first. */
async function momentsFor(tx: Writer, room: number, changes: number, now: number): Promise<number> {
  const { stamp } = await tx.q
    .updateTable('rooms')
    .set({ stamp: sql`${nextStamp(now)} + ${changes}` })
    .where('id', '=', room)
    .returning('stamp')
    .executeTakeFirstOrThrow()
  tx.notify('room', room, stamp)
  return stamp - changes
}

/** Ends some messages of the account. */
async function endMessages(tx: Writer, user: number, limit: number, now: number): Promise<number> {
  const some = await someMessages(tx, user, limit, false)
  if (!some) return 0
  const { room, ids, rows } = some
  await recordSome(tx, { room, messages: ids, deleted: true }, now)
  const before = await momentsFor(tx, room, ids.length, now)
  await sql`insert into deleted_messages (message_id, room_id, deleted_at)
    select id, room_id, ${before} + row_number() over (order by timestamp)
    from messages where id in (${sql.join(ids)})`.execute(tx.q)
  await tx.q.deleteFrom('messages').where('id', 'in', ids).execute()
  return rows
}

/** Gives some messages of the account in rooms of others to the former user. */
async function passOnMessages(tx: Writer, user: number, limit: number, now: number): Promise<number> {
  const some = await someMessages(tx, user, limit, true)
  if (!some) return 0
  const { room, ids, rows } = some
  const to = await formerUser(tx, now)
  // What a device called its message says nothing to others, and two authors may have used the same.
  await tx.q.updateTable('messages').set({ client_id: null }).where('id', 'in', ids).execute()
  await moveMessageCounts(tx, ids, { from: user, to })
  const before = await momentsFor(tx, room, ids.length, now)
  await sql`update messages set user_id = ${to}, version = messages.version + 1, changed_at = ${before} + placed.place
    from (select id, row_number() over (order by timestamp) as place from messages where id in (${sql.join(ids)})) placed
    where placed.id = messages.id`.execute(tx.q)
  await recordSome(tx, { room, messages: ids, deleted: false }, now)
  return rows
}

/** Takes the account out of one room, which is emptied and removed before where nobody else is in it. */
async function leaveRoom(
  tx: Writer,
  { user_id: user, keeps_messages }: Removal,
  limit: number,
  now: number,
): Promise<number> {
  const member = await tx.q.selectFrom('room_members').select('room_id').where('user_id', '=', user).executeTakeFirst()
  if (!member) return 0
  const { room_id: room } = member
  if ((await membersIn(tx, room)) === 1) {
    const emptied = await emptyRoom(tx, room, limit)
    if (emptied > 0) return emptied
  }
  const taken = await takeRoom(tx, room, now)
  await deleteMember(tx, room, user)
  if (!(await hasMembers(tx, room))) await deleteRoom(tx, room)
  else if (keeps_messages === 1 && taken?.type === 'dm') await renameDirect(tx, room, now)
  return 1
}

/** Takes the names of its two people out of that of a direct conversation. */
async function renameDirect(tx: Writer, room: number, now: number): Promise<void> {
  await renameRoom(tx, room, FORMER_USER, now)
  await recordForMembers(tx, { room, table: 'svc_rooms', row: room, deleted: false }, now)
}

async function membersIn(tx: Writer, room: number): Promise<number> {
  const { count } = await tx.q
    .selectFrom('room_members')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('room_id', '=', room)
    .executeTakeFirstOrThrow()
  return Number(count)
}
