import { advance } from '../feed/changes.ts'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'

// Files of chat rooms: trees separate from those of accounts. A file belongs to the room, its bytes count for the
// uploader, and it appears in no account's feed.

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

/** The current rooms of an account. */
export const roomsOf = (on: Reader, user: number): Promise<RoomName[]> => roomsQuery(on, { user })

const rootQuery = prepared<{ room: number }, { id: number }>(({ q, p }) =>
  q.selectFrom('nodes').select('id').where('room_id', '=', p.room).where('parent_id', 'is', null),
)

/** The ID of a room's root folder; undefined until the first upload. */
export const roomRootOf = async (on: Reader, room: number): Promise<number | undefined> =>
  (await first(rootQuery(on, { room })))?.id

/** Deletes all files of a room, also from the trash. Call it before the room's row is deleted. */
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
