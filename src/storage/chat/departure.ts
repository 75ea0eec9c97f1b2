import { sql, type SqlBool } from 'kysely'
import { accountsToEnd, endInFeeds } from './ended-memberships.ts'
import { recordForMembers, recordSome } from './room-feed.ts'
import { deleteMember, deleteRoom, hasMembers, nextStamp, renameRoom, takeRoom, type Entered } from './rooms.ts'
import { moveMessageCounts } from '../engine/data-usage.ts'
import type { Writer } from '../engine/database.ts'
import { FORMER_USER, formerUser } from '../accounts/former-user.ts'
import { emptyRoom, type Removal } from '../accounts/removals.ts'

/**
 * Removes an account from the chat, some rows at a time: its messages are deleted, or kept in shared rooms as the
 * former user's; rooms without other members are deleted. Returns the number of rows written, 0 when done.
 */
export async function departFromChat(tx: Writer, removal: Removal, limit: number, now: number): Promise<number> {
  const { user_id: user, keeps_messages } = removal
  return (
    (keeps_messages === 1 && (await transferMessages(tx, user, limit, now))) ||
    (await endMessages(tx, user, limit, now)) ||
    leaveRoom(tx, removal, limit, now)
  )
}

interface MessageBatch {
  room: number
  ids: number[]
  /** Rows written per change: each message goes into the feed of each member. */
  rows: number
}

/** Some messages of an account in one room; undefined if there are none. */
async function selectMessages(
  tx: Writer,
  user: number,
  limit: number,
  isShared: boolean,
): Promise<MessageBatch | undefined> {
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

/** Advances a room's clock by one time per change. Returns the time before the first. */
async function reserveStamps(tx: Writer, room: number, changes: number, now: number): Promise<number> {
  const { stamp } = await tx.q
    .updateTable('rooms')
    .set({ stamp: sql`${nextStamp(now)} + ${changes}` })
    .where('id', '=', room)
    .returning('stamp')
    .executeTakeFirstOrThrow()
  tx.notify('room', room, stamp)
  return stamp - changes
}

/** Deletes some messages of the account. */
async function endMessages(tx: Writer, user: number, limit: number, now: number): Promise<number> {
  const some = await selectMessages(tx, user, limit, false)
  if (!some) return 0
  const { room, ids, rows } = some
  const before = await reserveStamps(tx, room, ids.length, now)
  await recordSome(tx, { room, messages: ids, deleted: true }, now)
  await sql`insert into deleted_messages (message_id, room_id, deleted_at)
    select id, room_id, ${before} + row_number() over (order by timestamp)
    from messages where id in (${sql.join(ids)})`.execute(tx.q)
  await tx.q.deleteFrom('messages').where('id', 'in', ids).execute()
  return rows
}

/** Gives some messages in shared rooms to the former user. */
async function transferMessages(tx: Writer, user: number, limit: number, now: number): Promise<number> {
  const some = await selectMessages(tx, user, limit, true)
  if (!some) return 0
  const { room, ids, rows } = some
  const to = await formerUser(tx, now)
  // Client IDs are only unique per author.
  await tx.q.updateTable('messages').set({ client_id: null }).where('id', 'in', ids).execute()
  await moveMessageCounts(tx, ids, { from: user, to })
  const before = await reserveStamps(tx, room, ids.length, now)
  await sql`update messages set user_id = ${to}, version = messages.version + 1, changed_at = ${before} + placed.place
    from (select id, row_number() over (order by timestamp) as place from messages where id in (${sql.join(ids)})) placed
    where placed.id = messages.id`.execute(tx.q)
  await recordSome(tx, { room, messages: ids, deleted: false }, now)
  return rows
}

/** Removes the account from a room; a room without other members is emptied and deleted first. */
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
    const emptied = await emptyRoomAndFeeds(tx, room, limit, now)
    if (emptied > 0) return emptied
  }
  const taken = await takeRoom(tx, room, now)
  await deleteMember(tx, room, user)
  if (!(await hasMembers(tx, room))) await deleteRoom(tx, room)
  else if (keeps_messages === 1 && taken?.type === 'dm') await renameDirect(tx, taken, now)
  return 1
}

/** Deletes rows of a room, after ending it in the feeds of those who left it. Returns the number of rows written, 0 when done. */
async function emptyRoomAndFeeds(tx: Writer, room: number, limit: number, now: number): Promise<number> {
  const users = await accountsToEnd(tx, limit, room)
  return users.length > 0 ? endInFeeds(tx, { users, room }, limit, now) : emptyRoom(tx, room, limit)
}

/** Deletes up to `limit` rows of a room, or the room with the last of them, unless it has members. */
export async function removeEmptyRoom(tx: Writer, room: number, limit: number, now: number): Promise<'more' | 'done'> {
  if (await hasMembers(tx, room)) return 'done'
  for (let left = limit; left > 0;) {
    const removed = await emptyRoomAndFeeds(tx, room, left, now)
    if (removed === 0) {
      await deleteRoom(tx, room)
      return 'done'
    }
    left -= removed
  }
  return 'more'
}

/** Removes both names from the title of a direct conversation. */
async function renameDirect(tx: Writer, room: Entered, now: number): Promise<void> {
  await renameRoom(tx, room.id, FORMER_USER, now)
  await recordForMembers(tx, room, { table: 'svc_rooms', row: room.id, deleted: false }, now)
}

async function membersIn(tx: Writer, room: number): Promise<number> {
  const { count } = await tx.q
    .selectFrom('room_members')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('room_id', '=', room)
    .executeTakeFirstOrThrow()
  return Number(count)
}
