import { sql } from 'kysely'
import { recordEndOf } from './chat-feed.ts'
import { deleteMember, deleteRoom, hasMembers, nextStamp } from './chat-rooms.ts'
import type { Writer } from './database.ts'

/**
 * Takes an account out of the chat: its messages end for everybody who reads them, and rooms that nobody would be in any
 * more are removed. For whoever deletes the account, in the same transaction and before the account's row.
 */
export async function departFromChat(tx: Writer, user: number, now: number): Promise<void> {
  const { rows } = await sql<{ room_id: number }>`select room_id from room_members where user_id = ${user}
    union select room_id from messages where user_id = ${user} order by room_id`.execute(tx.q)
  for (const { room_id: room } of rows) {
    const messages = await recordEndOf(tx, room, user, now)
    const { stamp } = await tx.q
      .updateTable('rooms')
      .set({ stamp: sql`${nextStamp(now)} + ${messages}` })
      .where('id', '=', room)
      .returning('stamp')
      .executeTakeFirstOrThrow()
    tx.tell('room', room, stamp)
    // A moment of its own for each, as for every deletion.
    await sql`insert into deleted_messages (message_id, room_id, deleted_at)
      select id, room_id, ${stamp - messages} + row_number() over (order by timestamp)
      from messages where room_id = ${room} and user_id = ${user}`.execute(tx.q)
    await deleteMember(tx, room, user)
    if (!(await hasMembers(tx, room))) await deleteRoom(tx, room)
  }
}
