import { sql } from 'kysely'
import { prepared, type Reader } from '../engine/database.ts'
import type { RoomRow } from '../engine/chat-rows.ts'
import { hasSomebody } from './rooms.ts'

// Rooms as an administrator sees them: counts and sizes, never messages.

export interface RoomOverview {
  id: number
  name: string
  type: RoomRow['type']
  created_at: number
  /** User name of the creator; null if the account is gone. */
  created_by: string | null
  members: number
  messages: number
  /** Time of the latest message; null if there is none. */
  last_message_at: number | null
  files: number
  /** Bytes of the live files. */
  bytes: number
}

/** Every room, or the one with this ID, by ID. */
export async function roomOverviews(on: Reader, room?: number): Promise<RoomOverview[]> {
  const rows = await on.q
    .selectFrom('rooms as r')
    .leftJoin('users as u', 'u.id', 'r.created_by')
    .select(['r.id', 'r.name', 'r.type', 'r.created_at', 'u.username as created_by'])
    .select(({ selectFrom }) => [
      selectFrom('room_members as m')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('m.room_id', '=', 'r.id')
        .as('members'),
      selectFrom('messages as s')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('s.room_id', '=', 'r.id')
        .as('messages'),
      selectFrom('messages as s')
        .select(({ fn }) => fn.max('s.timestamp').as('last'))
        .whereRef('s.room_id', '=', 'r.id')
        .as('last_message_at'),
      selectFrom('nodes as n')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('n.room_id', '=', 'r.id')
        .where('n.trash_id', 'is', null)
        .where('n.type', '=', 'file')
        .as('files'),
      selectFrom('nodes as n')
        .select(({ fn }) => fn.sum('n.size').as('bytes'))
        .whereRef('n.room_id', '=', 'r.id')
        .where('n.trash_id', 'is', null)
        .as('bytes'),
    ])
    .where(hasSomebody(sql.ref('r.id')))
    .$if(room !== undefined, (query) => query.where('r.id', '=', room!))
    .orderBy('r.id')
    .execute()
  return rows.map((row) => ({
    ...row,
    members: Number(row.members),
    messages: Number(row.messages),
    files: Number(row.files),
    bytes: Number(row.bytes),
  }))
}

export interface RoomMember {
  username: string
  display_name: string
  joined_at: number
  /** Latest activity in the room; 0 for never. */
  last_active: number
}

const membersQuery = prepared<{ room: number }, RoomMember>(({ q, p }) =>
  q
    .selectFrom('room_members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.username', 'u.display_name', 'm.joined_at', 'm.last_active'])
    .where('m.room_id', '=', p.room)
    .orderBy('m.joined_at')
    .orderBy('u.id'),
)

/** The members of a room, in the order they joined. */
export const allMembersOf = (on: Reader, room: number): Promise<RoomMember[]> => membersQuery(on, { room })
