import { sql, type RawBuilder } from 'kysely'
import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { forgetRoom } from '../files/room-files.ts'
import type { RoomRow } from '../engine/chat-rows.ts'

// Rooms and their members. Every query for a user goes through `room_members`.

export interface Room {
  id: number
  name: string
  type: RoomRow['type']
  created_by: number
  created_at: number
}

/** What a member sees of a user. */
export interface Person {
  id: number
  username: string
  display_name: string
  avatar_color: string
}

const person = ['users.id', 'users.username', 'users.display_name', 'users.avatar_color'] as const

/** A locked room as a member sees it before a change. */
export interface Entered extends Pick<Room, 'id' | 'name' | 'type' | 'created_by'> {
  /** Time of the change: later than everything before it in this room. */
  stamp: number
  /** Null for small rooms, whose changes are entered in the feeds at once. */
  feed_stamp: number | null
}

const entered = ['id', 'name', 'type', 'created_by', 'stamp', 'feed_stamp'] as const

/** The next time of a room: now, or a millisecond after the previous one. */
export const nextStamp = (now: number) => sql<number>`(case when stamp < ${now} then ${now} else stamp + 1 end)`

const enterQuery = prepared<{ room: number; user: number; now: number }, Entered>(({ q, p }) =>
  q
    .updateTable('rooms')
    .set({ stamp: nextStamp(p.now) })
    .where('id', '=', p.room)
    .where(sql<boolean>`exists (select 1 from room_members m where m.room_id = rooms.id and m.user_id = ${p.user})`)
    .returning(entered),
)

/** Notifies that a room changed, if it exists. */
function notifyRoom(tx: Writer, room: Entered | undefined): Entered | undefined {
  if (room) tx.notify('room', room.id, room.stamp)
  return room
}

/** Locks a room for a change until the transaction ends; undefined for non-members. */
export const enterRoom = async (tx: Writer, room: number, user: number, now: number): Promise<Entered | undefined> =>
  notifyRoom(tx, await first(enterQuery(tx, { room, user, now })))

/** Like `enterRoom`, without the check for membership; undefined if there is no such room. */
export async function takeRoom(tx: Writer, room: number, now: number): Promise<Entered | undefined> {
  const query = tx.q
    .updateTable('rooms')
    .set({ stamp: nextStamp(now) })
    .where('id', '=', room)
  return notifyRoom(tx, await query.returning(entered).executeTakeFirst())
}

const stampQuery = prepared<{ room: number; user: number }, { stamp: number }>(({ q, p }) =>
  q
    .selectFrom('rooms')
    .innerJoin('room_members', 'room_members.room_id', 'rooms.id')
    .select('rooms.stamp')
    .where('rooms.id', '=', p.room)
    .where('room_members.user_id', '=', p.user),
)

/** Time of the latest change of a room; undefined for non-members. */
export const stampOf = async (on: Reader, room: number, user: number): Promise<number | undefined> =>
  (await first(stampQuery(on, { room, user })))?.stamp

/** Times of the latest changes of several rooms, for long polls. */
export const stampsOf = (on: Reader, rooms: number[]): Promise<{ id: number; head: number }[]> =>
  on.q.selectFrom('rooms').select(['id', 'stamp as head']).where('id', 'in', rooms).execute()

const roomsQuery = prepared<{ user: number }, Room>(({ q, p }) =>
  q
    .selectFrom('rooms')
    .innerJoin('room_members', 'room_members.room_id', 'rooms.id')
    .select(['rooms.id', 'rooms.name', 'rooms.type', 'rooms.created_by', 'rooms.created_at'])
    .where('room_members.user_id', '=', p.user),
)

/** The rooms of a user, in no order. */
export const roomsOf = (on: Reader, user: number): Promise<Room[]> => roomsQuery(on, { user })

/** A room of a user; undefined for non-members. */
export const roomOf = (on: Reader, room: number, user: number): Promise<Room | undefined> =>
  on.q
    .selectFrom('rooms')
    .innerJoin('room_members', 'room_members.room_id', 'rooms.id')
    .select(['rooms.id', 'rooms.name', 'rooms.type', 'rooms.created_by', 'rooms.created_at'])
    .where('rooms.id', '=', room)
    .where('room_members.user_id', '=', user)
    .executeTakeFirst()

const participantsQuery = prepared<{ user: number; from: number; to: number }, Person & { room_id: number }>(
  ({ q, p }) =>
    q
      .selectFrom('room_members as own')
      .innerJoin('room_members', 'room_members.room_id', 'own.room_id')
      .innerJoin('users', 'users.id', 'room_members.user_id')
      .select(['room_members.room_id', ...person])
      .where('own.user_id', '=', p.user)
      .where('own.room_id', '>=', p.from)
      .where('own.room_id', '<=', p.to)
      .orderBy('room_members.joined_at')
      .orderBy('users.id'),
)

/** The members of a user's rooms with IDs from `from` to `to` (inclusive), in the order they joined. */
export const participantsOf = (
  on: Reader,
  user: number,
  range: { from: number; to: number },
): Promise<(Person & { room_id: number })[]> => participantsQuery(on, { user, ...range })

// Own messages need no condition: posting one advances `read_at`. So the index alone is counted.
const unreadQuery = prepared<{ user: number }, { room_id: number; unread: number }>(({ q, p }) =>
  q
    .selectFrom('room_members')
    .leftJoin('messages', (join) =>
      join
        .onRef('messages.room_id', '=', 'room_members.room_id')
        .onRef('messages.timestamp', '>', 'room_members.read_at'),
    )
    .select(({ fn }) => ['room_members.room_id', fn.count<number>('messages.id').as('unread')])
    .where('room_members.user_id', '=', p.user)
    .groupBy('room_members.room_id')
    .orderBy('room_members.room_id'),
)

/** Unread messages of each room of a user, also of rooms without any. */
export const unreadOf = async (on: Reader, user: number): Promise<{ room_id: number; unread: number }[]> =>
  (await unreadQuery(on, { user })).map(({ room_id, unread }) => ({ room_id, unread: Number(unread) }))

/** Unread messages of a room of a user. */
export async function unreadIn(on: Reader, room: number, user: number): Promise<number> {
  const { unread } = await on.q
    .selectFrom('room_members')
    .innerJoin('messages', (join) =>
      join
        .onRef('messages.room_id', '=', 'room_members.room_id')
        .onRef('messages.timestamp', '>', 'room_members.read_at'),
    )
    .select(({ fn }) => fn.countAll().as('unread'))
    .where('room_members.room_id', '=', room)
    .where('room_members.user_id', '=', user)
    .executeTakeFirstOrThrow()
  return Number(unread)
}

/** The members of a room, in the order they joined; empty for non-members. */
export const membersOf = (on: Reader, room: number, user: number): Promise<(Person & { last_active: number })[]> =>
  on.q
    .selectFrom('room_members as own')
    .innerJoin('room_members', 'room_members.room_id', 'own.room_id')
    .innerJoin('users', 'users.id', 'room_members.user_id')
    .select([...person, 'room_members.last_active'])
    .where('own.room_id', '=', room)
    .where('own.user_id', '=', user)
    .orderBy('room_members.joined_at')
    .orderBy('users.id')
    .execute()

/** Which of these users can sign in. */
export const activeAmong = async (on: Reader, users: number[]): Promise<number[]> => {
  if (users.length === 0) return []
  const query = on.q.selectFrom('users').select('id').where('id', 'in', users).where('disabled_at', 'is', null)
  return (await query.orderBy('id').execute()).map(({ id }) => id)
}

/** Users who can sign in, by name; with `since` only those active after it. */
export const activeUsers = (on: Reader, since?: number): Promise<Person[]> =>
  on.q
    .selectFrom('users')
    .select(person)
    .where('disabled_at', 'is', null)
    .$if(since !== undefined, (query) => query.where('last_active', '>=', since!))
    .orderBy('username')
    .execute()

/** False for a room that is being deleted. */
export const hasSomebody = (room: RawBuilder<unknown>) =>
  sql<boolean>`exists (select 1 from room_members m where m.room_id = ${room})`

const ROOM = sql.ref('rooms.id')

/** Creates a room without members. Returns its ID; undefined if the two users have a direct conversation already. */
export async function insertRoom(
  tx: Writer,
  room: Pick<Room, 'name' | 'type' | 'created_by'> & { pair: string | null },
  now: number,
): Promise<number | undefined> {
  const row = await tx.q
    .insertInto('rooms')
    .values({ ...room, created_at: now, updated_at: now, version: 1, stamp: now })
    .onConflict((conflict) => conflict.column('pair').where('pair', 'is not', null).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Rooms without members, which are being deleted. */
export const roomsWithoutMembers = async (on: Reader): Promise<number[]> => {
  const { rows } = await sql<{ id: number }>`select id from rooms where not ${hasSomebody(ROOM)}
    order by id`.execute(on.q)
  return rows.map(({ id }) => id)
}

/** Lets the two users of a direct conversation that is being deleted begin a new one. */
export const forgetPair = (tx: Writer, room: number) =>
  tx.q.updateTable('rooms').set({ pair: null }).where('id', '=', room).execute()

export async function roomsMadeBy(on: Reader, user: number): Promise<number> {
  const { count } = await on.q
    .selectFrom('rooms')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('created_by', '=', user)
    .where(hasSomebody(ROOM))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The direct conversation of two users. */
export const roomOfPair = async (on: Reader, pair: string): Promise<number | undefined> =>
  (await on.q.selectFrom('rooms').select('id').where('pair', '=', pair).executeTakeFirst())?.id

export const roomExists = async (on: Reader, room: number): Promise<boolean> =>
  (await on.q.selectFrom('rooms').select('id').where('id', '=', room).executeTakeFirst()) !== undefined

export const channelNamed = async (on: Reader, name: string, creator: number): Promise<number | undefined> => {
  const query = on.q.selectFrom('rooms').select('id').where('name', '=', name).where('created_by', '=', creator)
  return (await query.where('type', '=', 'channel').where(hasSomebody(ROOM)).orderBy('id').limit(1).executeTakeFirst())
    ?.id
}

/** Adds members who have read everything up to now. Returns the new ones. */
export async function insertMembers(
  tx: Writer,
  room: number,
  users: readonly number[],
  stamp: number,
): Promise<number[]> {
  if (users.length === 0) return []
  const rows = users.map((user_id) => ({ room_id: room, user_id, joined_at: stamp, read_at: stamp, feed_stamp: stamp }))
  const joined = await tx.q
    .insertInto('room_members')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['room_id', 'user_id']).doNothing())
    .returning('user_id')
    .execute()
  return joined.map(({ user_id }) => user_id)
}

/** Removes a member; false for non-members. */
export async function deleteMember(tx: Writer, room: number, user: number): Promise<boolean> {
  const query = tx.q.deleteFrom('room_members').where('room_id', '=', room).where('user_id', '=', user)
  return (await query.returning('user_id').execute()).length > 0
}

export const isMember = async (on: Reader, room: number, user: number): Promise<boolean> =>
  (await stampOf(on, room, user)) !== undefined

export const hasMembers = async (on: Reader, room: number): Promise<boolean> => {
  const query = on.q.selectFrom('room_members').select('user_id').where('room_id', '=', room).limit(1)
  return (await query.execute()).length > 0
}

export const renameRoom = (tx: Writer, room: number, name: string, now: number) =>
  tx.q
    .updateTable('rooms')
    .set({ name, updated_at: now, version: sql`version + 1` })
    .where('id', '=', room)
    .execute()

/** Deletes a room with its members, messages and files. */
export async function deleteRoom(tx: Writer, room: number): Promise<void> {
  await forgetRoom(tx, room)
  await tx.q.deleteFrom('rooms').where('id', '=', room).execute()
}
