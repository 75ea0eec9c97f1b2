import { sql } from 'kysely'
import { advance } from './changes.ts'
import { first, prepared, type Reader, type Writer } from './database.ts'
import { dropAllTrashOf } from './trash.ts'

// The shared files of chat rooms: trees of their own beside those of accounts. A file belongs to the room, its bytes
// count for whoever stored them, and nothing of it stands in any account's feed.

export interface RoomName {
  id: number
  name: string
  created_at: number
}

const roomsQuery = prepared<{ user: number }, RoomName>(({ q, p }) =>
  q
    .selectFrom('rooms as r')
    .innerJoin('room_members as m', 'm.room_id', 'r.id')
    .select(['r.id', 'r.name', 'r.created_at'])
    .where('m.user_id', '=', p.user)
    .orderBy('r.id'),
)

/** The rooms an account belongs to at this moment. */
export const roomsOf = (on: Reader, user: number): Promise<RoomName[]> => roomsQuery(on, { user })

const rootQuery = prepared<{ room: number }, { id: number }>(({ q, p }) =>
  q.selectFrom('nodes').select('id').where('room_id', '=', p.room).where('parent_id', 'is', null),
)

/** The id of a room's root folder; undefined as long as nothing was stored there. */
export const roomRootOf = async (on: Reader, room: number): Promise<number | undefined> =>
  (await first(rootQuery(on, { room })))?.id

/**
 * Removes every file of a room, also from the trash, and gives those who stored them their bytes back. For whoever
 * deletes the room, in the same transaction and before the room's row.
 */
export async function forgetRoom(tx: Writer, room: number): Promise<void> {
  const used = await tx.q
    .selectFrom('nodes')
    .select(({ fn }) => ['user_id', fn.sum('size').as('bytes')])
    .where('room_id', '=', room)
    .where('trash_id', 'is', null)
    .groupBy('user_id')
    .execute()
  for (const { user_id, bytes } of used) await advance(tx, user_id, 0, -Number(bytes))
  await tx.q.deleteFrom('nodes').where('room_id', '=', room).execute()
}

/**
 * Lets another account pay for what one stored in chat rooms that others are in too; it stays where it is. What is in the
 * trash must be gone before. Returns how many files, and their bytes.
 */
export async function giveRoomFiles(tx: Writer, from: number, to: number): Promise<{ files: number; bytes: number }> {
  const shared = tx.q.selectFrom('room_members').select('room_id').where('user_id', '!=', from)
  const { files, bytes } = await tx.q
    .selectFrom('nodes')
    .select(({ fn }) => [fn.countAll().as('files'), fn.sum('size').as('bytes')])
    .where('user_id', '=', from)
    .where('type', '=', 'file')
    .where('trash_id', 'is', null)
    .where('room_id', 'in', shared)
    .executeTakeFirstOrThrow()
  const there = tx.q.selectFrom('nodes').select('id').where('room_id', 'in', shared)
  await tx.q
    .updateTable('versions')
    .set({ user_id: to })
    .where('user_id', '=', from)
    .where('node_id', 'in', there)
    .execute()
  await tx.q
    .updateTable('nodes')
    .set({ user_id: to })
    .where('user_id', '=', from)
    .where('room_id', 'in', shared)
    .execute()
  return { files: Number(files), bytes: Number(bytes) }
}

/**
 * Lets another member answer for the room folders that an account made, so that they outlive it with what others stored
 * in them. For whoever deletes the account, in the same transaction and before the account's row.
 */
export async function passOnRoomFolders(tx: Writer, user: number): Promise<void> {
  await dropAllTrashOf(tx, user)
  await sql`update nodes set user_id = (
      select min(m.user_id) from room_members m where m.room_id = nodes.room_id and m.user_id <> ${user}
    ) where user_id = ${user} and type = 'directory' and room_id in (
      select m.room_id from room_members m where m.user_id <> ${user}
    )`.execute(tx.q)
}
