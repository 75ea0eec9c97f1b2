import { sql } from 'kysely'
import { prepared, type Reader, type Writer } from '../engine/database.ts'

// Presence, typing and read marks in the rows of `room_members`.

type Mark = { room: number; user: number; now: number }

const touchQuery = prepared<{ user: number; now: number }, never>(({ q, p }) =>
  q.updateTable('users').set({ last_active: p.now }).where('id', '=', p.user),
)

const afterMessageQuery = prepared<Mark & { stamp: number }, never>(({ q, p }) =>
  q
    .updateTable('room_members')
    .set({ read_at: p.stamp, last_active: p.now, typing_until: 0 })
    .where('room_id', '=', p.room)
    .where('user_id', '=', p.user),
)

/** Updates the author's marks after a message: everything is read, and typing ends. */
export async function markAfterMessage(tx: Writer, { stamp, ...mark }: Mark & { stamp: number }): Promise<void> {
  await afterMessageQuery(tx, { ...mark, stamp })
  await touchQuery(tx, mark)
}

const presentQuery = prepared<Mark, { user_id: number }>(({ q, p }) =>
  q
    .updateTable('room_members')
    .set({ last_active: p.now })
    .where('room_id', '=', p.room)
    .where('user_id', '=', p.user)
    .returning('user_id'),
)

/** Records that a member is active; false for non-members. */
export async function markPresent(tx: Writer, mark: Mark): Promise<boolean> {
  if ((await presentQuery(tx, mark)).length === 0) return false
  await touchQuery(tx, mark)
  return true
}

const typesQuery = prepared<Mark, { user_id: number }>(({ q, p }) =>
  q
    .selectFrom('room_members')
    .select('user_id')
    .where('room_id', '=', p.room)
    .where('user_id', '=', p.user)
    .where('typing_until', '>', p.now),
)

export const isTyping = async (on: Reader, mark: Mark): Promise<boolean> => (await typesQuery(on, mark)).length > 0

const typingQuery = prepared<Mark & { until: number }, never>(({ q, p }) =>
  q
    .updateTable('room_members')
    .set({ typing_until: p.until })
    .where('room_id', '=', p.room)
    .where('user_id', '=', p.user),
)

/** Records until when a member counts as typing. */
export const markTyping = (tx: Writer, mark: Mark & { until: number }): Promise<never[]> => typingQuery(tx, mark)

export interface Typist {
  /** For the assistant: the user it answers. */
  user_id: number
  is_assistant: number
  display_name: string
  typing_until: number
}

const typistsQuery = prepared<{ room: number; now: number }, Typist>(({ q, p }) =>
  q
    .selectFrom('room_members')
    .innerJoin('users', 'users.id', 'room_members.user_id')
    .select(({ lit }) => [
      'room_members.user_id',
      'users.display_name',
      'room_members.typing_until',
      lit<number>(0).as('is_assistant'),
    ])
    .where('room_id', '=', p.room)
    .where('typing_until', '>', p.now)
    .unionAll(
      q
        .selectFrom('assistant_mentions')
        .select(({ lit }) => [
          'user_id',
          'name as display_name',
          'working_until as typing_until',
          lit<number>(1).as('is_assistant'),
        ])
        .where('room_id', '=', p.room)
        .where('working_until', '>', p.now),
    )
    .orderBy('user_id'),
)

/** The users typing in a room. */
export const typistsOf = (on: Reader, room: number, now: number): Promise<Typist[]> => typistsQuery(on, { room, now })

/** Marks everything in a room as read; false for non-members. */
export async function markRead(tx: Writer, room: number, user: number): Promise<boolean> {
  const marked = await tx.q
    .updateTable('room_members')
    .set({ read_at: sql`(select stamp from rooms where rooms.id = room_members.room_id)` })
    .where('room_id', '=', room)
    .where('user_id', '=', user)
    .returning('user_id')
    .execute()
  return marked.length > 0
}
