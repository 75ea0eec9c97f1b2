import type { Clock } from '../../base/clock.ts'
import { badRequest } from '../../contract/errors.ts'
import { recordForMembers, recordRoom } from '../../storage/chat-feed.ts'
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
  takeRoom,
  type Entered,
} from '../../storage/chat-rooms.ts'
import type { Database, Writer } from '../../storage/database.ts'
import type { Audit } from '../instance/instance.ts'
import type { Author } from './author.ts'
import { noSuchUser, notMember, onlyChannels, onlyCreator } from './refusals.ts'
import { roomFor } from './rooms.ts'
import type { Tell } from './tell.ts'
import { readRoomName } from './text.ts'

type Shown = Awaited<ReturnType<typeof roomFor>>

interface NewRoom {
  name: string
  type: 'channel' | 'dm'
  participants: readonly number[]
}

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
  tell: Tell
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
async function takeOut(tx: Writer, room: number, user: number, now: number): Promise<number[]> {
  const moved = await recordRoom(tx, { room, user, deleted: true }, now)
  await deleteMember(tx, room, user)
  if (!(await hasMembers(tx, room))) await deleteRoom(tx, room)
  return moved
}

/**
 * Opens a room for these people, one step of a transaction: its id, and whose feeds moved. The room two people have already
 * is answered again. Fault `not_found` for people who are not there.
 */
export async function openRoomIn(
  tx: Writer,
  creator: number,
  { name, type, people }: { name: string; type: NewRoom['type']; people: number[] },
  now: number,
): Promise<{ room: number; moved: number[] }> {
  await assertActive(tx, people)
  const pair = type === 'dm' ? people.join(':') : null
  const room = await insertRoom(tx, { name, type, created_by: creator, pair }, now)
  if (room === undefined) return { room: (await roomOfPair(tx, pair!))!, moved: [] }
  await insertMembers(tx, room, people, now)
  return {
    room,
    moved: await recordForMembers(tx, { room, table: 'svc_rooms', row: room, deleted: false }, now),
  }
}

/** Brings people into a channel in the name of a member, one step of a transaction; returns whose feeds moved. */
export async function inviteIn(
  tx: Writer,
  room: number,
  user: number,
  people: number[],
  now: number,
): Promise<number[]> {
  const { stamp } = await enterChannel(tx, room, user, now)
  await assertActive(tx, people)
  const moved: number[] = []
  for (const person of await insertMembers(tx, room, people, stamp))
    moved.push(...(await recordRoom(tx, { room, user: person, deleted: false }, now)))
  return moved
}

const inOrder = (people: readonly number[]): number[] => [...new Set(people)].sort((a, b) => a - b)

/** Opening and closing rooms, and who is in them. Faults: `forbidden`, `not_found` for users who are not there, `bad_request`. */
export const makeMembership = ({ database, clock, audit, tell }: Parts) => ({
  /** Opens a room with its creator in it. A `dm` has exactly two people, and an existing one is answered again. */
  async createRoom({ id: creator }: Author, { name: text, type, participants }: NewRoom): Promise<Shown> {
    const name = readRoomName(text)
    const people = inOrder([creator, ...participants])
    if (type === 'dm' && people.length !== 2) throw badRequest('participants', 'must name exactly one other person')
    const { room, moved } = await database.write(async (tx) => {
      const opened = await openRoomIn(tx, creator, { name, type, people }, clock.now())
      return { room: await roomFor(tx, creator, opened.room), moved: opened.moved }
    })
    tell(room.room_id, moved)
    return room
  },

  /** Brings more people into a channel, who then see everything said in it. */
  async invite({ id: user }: Author, { room_id: room, user_ids }: { room_id: number; user_ids: readonly number[] }) {
    const { shown, moved } = await database.write(async (tx) => {
      const moved = await inviteIn(tx, room, user, inOrder(user_ids), clock.now())
      return { shown: await roomFor(tx, user, room), moved }
    })
    tell(room, moved)
    return shown
  },

  /** Gives a channel another name: its creator, or an administrator in it. */
  async renameRoom(author: Author, { room_id: room, name: text }: { room_id: number; name: string }): Promise<Shown> {
    const name = readRoomName(text)
    const { shown, moved } = await database.write(async (tx) => {
      const now = clock.now()
      assertCreator(author, await enterChannel(tx, room, author.id, now))
      await renameRoom(tx, room, name, now)
      const moved = await recordForMembers(tx, { room, table: 'svc_rooms', row: room, deleted: false }, now)
      return { shown: await roomFor(tx, author.id, room), moved }
    })
    tell(room, moved)
    return shown
  },

  /** Leaves a channel; the last one out closes it. */
  async leave({ id: user }: Author, room: number): Promise<void> {
    const now = clock.now()
    const moved = await database.write(async (tx) => {
      await enterChannel(tx, room, user, now)
      return takeOut(tx, room, user, now)
    })
    tell(room, moved)
  },

  /** Takes somebody out of a channel: its creator, or an administrator in it. `not_found` for who is not in it. */
  async removeParticipant(author: Author, { room_id: room, user_id }: { room_id: number; user_id: number }) {
    const now = clock.now()
    const moved = await database.write(async (tx) => {
      assertCreator(author, await enterChannel(tx, room, author.id, now))
      if (!(await isMember(tx, room, user_id))) throw noSuchUser()
      return takeOut(tx, room, user_id, now)
    })
    tell(room, moved)
  },

  /** Deletes a room with its messages and files: its creator who is still in it, or any administrator. */
  async deleteRoom(author: Author, room: number): Promise<void> {
    const now = clock.now()
    const moved = await database.write(async (tx) => {
      const isAdmin = author.role === 'admin'
      const found = isAdmin ? await takeRoom(tx, room, now) : await enterRoom(tx, room, author.id, now)
      if (!found) throw notMember()
      assertCreator(author, found)
      const moved = await recordRoom(tx, { room, deleted: true }, now)
      await deleteRoom(tx, room)
      if (found.created_by !== author.id)
        await audit.record(tx, { kind: 'room.removed', by: author.id, detail: { id: room, name: found.name } })
      return moved
    })
    tell(room, moved)
  },
})
