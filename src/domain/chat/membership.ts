import type { Clock } from '../../base/clock.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { endInFeeds, endMemberships } from '../../storage/chat/ended-memberships.ts'
import { beginMemberships, recordForMembers } from '../../storage/chat/room-feed.ts'
import {
  activeAmong,
  enterRoom,
  forgetPair,
  insertMembers,
  insertRoom,
  isMember,
  renameRoom,
  roomOfPair,
  roomsMadeBy,
  takeRoom,
  type Entered,
} from '../../storage/chat/rooms.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Audit } from '../instance/instance.ts'
import type { Author } from './author.ts'
import { noSuchUser, notMember, onlyChannels, onlyCreator } from './chat-faults.ts'
import { roomFor } from './rooms.ts'
import { readRoomName } from './message-text.ts'
import type { RoomRemoval } from './room-removal.ts'

type Shown = NonNullable<Awaited<ReturnType<typeof roomFor>>>

/** Maximum number of rooms that one user opened. */
const MAX_ROOMS = 1_000

interface NewRoom {
  name: string
  type: 'channel' | 'dm'
  participants: readonly number[]
}

interface Deps {
  database: Database
  clock: Clock
  audit: Audit
  removal: RoomRemoval
}

/** Locks a channel for a change of its members or name. */
async function enterChannel(tx: Writer, room: number, user: number, now: number): Promise<Entered> {
  const entered = await enterRoom(tx, room, user, now)
  if (!entered) throw notMember()
  if (entered.type !== 'channel') throw onlyChannels()
  return entered
}

function assertCreator({ id, role }: Author, { created_by }: Entered): void {
  if (created_by !== id && role !== 'admin') throw onlyCreator()
}

/** Refuses users who do not exist or cannot sign in. */
async function assertActive(tx: Writer, users: number[]): Promise<void> {
  if ((await activeAmong(tx, users)).length < users.length) throw noSuchUser()
}

/** Entries of the feed that are ended in the transaction of leaving. */
const ENDED_AT_ONCE = 500

/** Ends a membership. What its feed still has, and a room without members, is removed in further transactions. */
async function removeMember(tx: Writer, room: number, user: number, now: number): Promise<void> {
  await endMemberships(tx, { room, user })
  await endInFeeds(tx, { users: [user], room }, ENDED_AT_ONCE, now)
}

/**
 * Opens a room for these users, as a step of a transaction. Returns its id, or that of the existing direct message. Faults:
 * `not_found` for unknown users, `quota_exceeded`.
 */
export async function openRoomIn(
  tx: Writer,
  creator: number,
  { name, type, users }: { name: string; type: NewRoom['type']; users: number[] },
  now: number,
): Promise<number> {
  await assertActive(tx, users)
  const pair = type === 'dm' ? users.join(':') : null
  const existing = pair === null ? undefined : await roomOfPair(tx, pair)
  if (existing !== undefined) return existing
  if ((await roomsMadeBy(tx, creator)) >= MAX_ROOMS)
    throw fault('quota_exceeded', { text: `You have already created ${MAX_ROOMS} rooms: delete some.` })
  const room = await insertRoom(tx, { name, type, created_by: creator, pair }, now)
  if (room === undefined) return (await roomOfPair(tx, pair!))!
  await insertMembers(tx, room, users, now)
  await recordForMembers(tx, { id: room, feed_stamp: null }, { table: 'svc_rooms', row: room, deleted: false }, now)
  return room
}

/** Adds users to a channel on behalf of a member, as a step of a transaction. */
export async function inviteIn(tx: Writer, room: number, user: number, users: number[], now: number): Promise<void> {
  const entered = await enterChannel(tx, room, user, now)
  await assertActive(tx, users)
  await beginMemberships(tx, entered, await insertMembers(tx, room, users, entered.stamp), now)
}

/** The room for the response, from the transaction that changed it: its member may be removed right after the commit. */
const shownIn = async (tx: Writer, user: number, room: number): Promise<Shown> => (await roomFor(tx, user, room))!

const sortedIds = (users: readonly number[]): number[] => [...new Set(users)].sort((a, b) => a - b)

/** Rooms and their members. Faults: `forbidden`, `not_found` for unknown users, `bad_request`. */
export const makeMembership = ({ database, clock, audit, removal }: Deps) => ({
  /** Opens a room with its creator. A `dm` has exactly two members; an existing one is returned. */
  async createRoom({ id: creator }: Author, { name: text, type, participants }: NewRoom): Promise<Shown> {
    const name = readRoomName(text)
    const users = sortedIds([creator, ...participants])
    if (type === 'dm' && users.length !== 2) throw badRequest('participants', 'must name exactly one other person')
    return database.write({ accounts: users }, async (tx) =>
      shownIn(tx, creator, await openRoomIn(tx, creator, { name, type, users }, clock.now())),
    )
  },

  /** Adds members to a channel; they see all its messages. */
  async invite({ id: user }: Author, { room_id: room, user_ids }: { room_id: number; user_ids: readonly number[] }) {
    const invited = sortedIds(user_ids)
    return database.write({ accounts: [user, ...invited], rooms: [room] }, async (tx) => {
      await inviteIn(tx, room, user, invited, clock.now())
      return shownIn(tx, user, room)
    })
  },

  /** Renames a channel, as its creator or as an administrator in it. */
  async renameRoom(author: Author, { room_id: room, name: text }: { room_id: number; name: string }): Promise<Shown> {
    const name = readRoomName(text)
    return database.write({ rooms: [room], memberFeeds: [room] }, async (tx) => {
      const now = clock.now()
      const entered = await enterChannel(tx, room, author.id, now)
      assertCreator(author, entered)
      await renameRoom(tx, room, name, now)
      await recordForMembers(tx, entered, { table: 'svc_rooms', row: room, deleted: false }, now)
      return shownIn(tx, author.id, room)
    })
  },

  /** Leaves a channel; it is deleted with its last member. */
  async leave({ id: user }: Author, room: number): Promise<void> {
    const now = clock.now()
    await database.write({ accounts: [user], rooms: [room] }, async (tx) => {
      await enterChannel(tx, room, user, now)
      await removeMember(tx, room, user, now)
    })
    await removal.finish(room)
  },

  /** For the channel's creator, or an administrator in it. Fault `not_found` for a user who is not a member. */
  async removeParticipant(author: Author, { room_id: room, user_id }: { room_id: number; user_id: number }) {
    const now = clock.now()
    await database.write({ accounts: [author.id, user_id], rooms: [room] }, async (tx) => {
      assertCreator(author, await enterChannel(tx, room, author.id, now))
      if (!(await isMember(tx, room, user_id))) throw noSuchUser()
      await removeMember(tx, room, user_id, now)
    })
    await removal.finish(room)
  },

  /** Deletes a room with its messages and files, as its creator if still a member, or as an administrator. */
  async deleteRoom(author: Author, room: number): Promise<void> {
    const now = clock.now()
    await database.write({ accounts: [author.id], rooms: [room] }, async (tx) => {
      const isAdmin = author.role === 'admin'
      const found = isAdmin ? await takeRoom(tx, room, now) : await enterRoom(tx, room, author.id, now)
      if (!found) throw notMember()
      assertCreator(author, found)
      await endMemberships(tx, { room })
      await forgetPair(tx, room)
      if (found.created_by !== author.id)
        await audit.record(tx, { kind: 'room.removed', by: author.id, detail: { id: room, name: found.name } })
    })
    await removal.finish(room)
  },
})
