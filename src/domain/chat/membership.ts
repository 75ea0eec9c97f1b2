import type { Clock } from '../../base/clock.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { recordForMembers, recordRoom } from '../../storage/chat/room-feed.ts'
import {
  activeAmong,
  deleteMember,
  deleteRoom,
  enterRoom,
  hasMembers,
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
import { noSuchUser, notMember, onlyChannels, onlyCreator } from './refusals.ts'
import { roomFor } from './rooms.ts'
import { readRoomName } from './text.ts'

type Shown = Awaited<ReturnType<typeof roomFor>>

/** Rooms that one person opened and that are still there. */
const MAX_ROOMS = 1_000

interface NewRoom {
  name: string
  type: 'channel' | 'dm'
  participants: readonly number[]
}

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
}

/** Enters a channel to change who is in it or what it is called. */
async function enterChannel(tx: Writer, room: number, user: number, now: number): Promise<Entered> {
  const entered = await enterRoom(tx, room, user, now)
  if (!entered) throw notMember()
  if (entered.type !== 'channel') throw onlyChannels()
  return entered
}

function assertCreator({ id, role }: Author, { created_by }: Entered): void {
  if (created_by !== id && role !== 'admin') throw onlyCreator()
}

/** Refuses people who are not there or cannot sign in. */
async function assertActive(tx: Writer, users: number[]): Promise<void> {
  if ((await activeAmong(tx, users)).length < users.length) throw noSuchUser()
}

/** Takes a member out of a room. A room that nobody is in any more is removed: nobody could ever enter it again. */
async function takeOut(tx: Writer, room: number, user: number, now: number): Promise<void> {
  await recordRoom(tx, { room, user, deleted: true }, now)
  await deleteMember(tx, room, user)
  if (!(await hasMembers(tx, room))) await deleteRoom(tx, room)
}

/**
 * Opens a room for these people, one step of a transaction; returns its id. The room two people have already is answered
 * again. Faults: `not_found` for people who are not there, `quota_exceeded`.
 */
export async function openRoomIn(
  tx: Writer,
  creator: number,
  { name, type, people }: { name: string; type: NewRoom['type']; people: number[] },
  now: number,
): Promise<number> {
  await assertActive(tx, people)
  const pair = type === 'dm' ? people.join(':') : null
  if ((await roomsMadeBy(tx, creator)) >= MAX_ROOMS)
    throw fault('quota_exceeded', { text: `There are ${MAX_ROOMS} rooms already that you opened: delete some.` })
  const room = await insertRoom(tx, { name, type, created_by: creator, pair }, now)
  if (room === undefined) return (await roomOfPair(tx, pair!))!
  await insertMembers(tx, room, people, now)
  await recordForMembers(tx, { room, table: 'svc_rooms', row: room, deleted: false }, now)
  return room
}

/** Brings people into a channel in the name of a member, one step of a transaction. */
export async function inviteIn(tx: Writer, room: number, user: number, people: number[], now: number): Promise<void> {
  const { stamp } = await enterChannel(tx, room, user, now)
  await assertActive(tx, people)
  for (const person of await insertMembers(tx, room, people, stamp))
    await recordRoom(tx, { room, user: person, deleted: false }, now)
}

const inOrder = (people: readonly number[]): number[] => [...new Set(people)].sort((a, b) => a - b)

/** Opening and closing rooms, and who is in them. Faults: `forbidden`, `not_found` for users who are not there, `bad_request`. */
export const makeMembership = ({ database, clock, audit }: Parts) => ({
  /** Opens a room with its creator in it. A `dm` has exactly two people, and an existing one is answered again. */
  async createRoom({ id: creator }: Author, { name: text, type, participants }: NewRoom): Promise<Shown> {
    const name = readRoomName(text)
    const people = inOrder([creator, ...participants])
    if (type === 'dm' && people.length !== 2) throw badRequest('participants', 'must name exactly one other person')
    return database.write(async (tx) =>
      roomFor(tx, creator, await openRoomIn(tx, creator, { name, type, people }, clock.now())),
    )
  },

  /** Brings more people into a channel, who then see everything said in it. */
  async invite({ id: user }: Author, { room_id: room, user_ids }: { room_id: number; user_ids: readonly number[] }) {
    return database.write(async (tx) => {
      await inviteIn(tx, room, user, inOrder(user_ids), clock.now())
      return roomFor(tx, user, room)
    })
  },

  /** Gives a channel another name: its creator, or an administrator in it. */
  async renameRoom(author: Author, { room_id: room, name: text }: { room_id: number; name: string }): Promise<Shown> {
    const name = readRoomName(text)
    return database.write(async (tx) => {
      const now = clock.now()
      assertCreator(author, await enterChannel(tx, room, author.id, now))
      await renameRoom(tx, room, name, now)
      await recordForMembers(tx, { room, table: 'svc_rooms', row: room, deleted: false }, now)
      return roomFor(tx, author.id, room)
    })
  },

  /** Leaves a channel; the last one out closes it. */
  async leave({ id: user }: Author, room: number): Promise<void> {
    const now = clock.now()
    await database.write(async (tx) => {
      await enterChannel(tx, room, user, now)
      await takeOut(tx, room, user, now)
    })
  },

  /** Takes somebody out of a channel: its creator, or an administrator in it. `not_found` for who is not in it. */
  async removeParticipant(author: Author, { room_id: room, user_id }: { room_id: number; user_id: number }) {
    const now = clock.now()
    await database.write(async (tx) => {
      assertCreator(author, await enterChannel(tx, room, author.id, now))
      if (!(await isMember(tx, room, user_id))) throw noSuchUser()
      await takeOut(tx, room, user_id, now)
    })
  },

  /** Deletes a room with its messages and files: its creator who is still in it, or any administrator. */
  async deleteRoom(author: Author, room: number): Promise<void> {
    const now = clock.now()
    await database.write(async (tx) => {
      const isAdmin = author.role === 'admin'
      const found = isAdmin ? await takeRoom(tx, room, now) : await enterRoom(tx, room, author.id, now)
      if (!found) throw notMember()
      assertCreator(author, found)
      await recordRoom(tx, { room, deleted: true }, now)
      await deleteRoom(tx, room)
      if (found.created_by !== author.id)
        await audit.record(tx, { kind: 'room.removed', by: author.id, detail: { id: room, name: found.name } })
    })
  },
})
