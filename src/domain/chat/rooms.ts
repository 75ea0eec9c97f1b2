import { iso } from '../../base/clock.ts'
import { makeKeyedMutex } from '../../base/keyed-mutex.ts'
import type { Answer } from '../../contract/define.ts'
import type { teamChat } from '../../contract/team-chat.ts'
import { lastMessagesOf, messagesBefore } from '../../storage/chat/messages.ts'
import {
  membersOf,
  participantsOf,
  roomOf,
  roomsOf,
  unreadIn,
  unreadOf,
  type Person,
  type Room,
} from '../../storage/chat/rooms.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { yieldToOthers } from '../turn.ts'
import { viewsOf, shownTo, type ShownMessage } from './message-view.ts'
import { notMember } from './chat-faults.ts'

type Shown = Answer<typeof teamChat.actions.rooms>['rooms'][number]

/** Rooms whose members are read in one turn. */
const SLICE = 50

const shown = (
  { id, created_at, ...room }: Room,
  participants: Person[],
  { last, unread }: { last: ShownMessage | undefined; unread: number },
): Shown => ({
  room_id: id,
  ...room,
  created_at: iso(created_at),
  participant_count: participants.length,
  participants,
  last_message: last ?? null,
  unread_count: unread,
})

/** The members of the rooms of a user, read while others have their turn. */
async function peopleIn(at: Reader, user: number, rooms: readonly Room[]): Promise<Map<number, Person[]>> {
  const ids = rooms.map(({ id }) => id).sort((a, b) => a - b)
  const people = new Map<number, Person[]>(ids.map((id) => [id, []]))
  for (let first = 0; first < ids.length; first += SLICE) {
    if (first > 0) await yieldToOthers()
    const slice = ids.slice(first, first + SLICE)
    for (const { room_id, ...person } of await participantsOf(at, user, { from: slice[0]!, to: slice.at(-1)! }))
      people.get(room_id)!.push(person)
  }
  return people
}

async function roomsFor(at: Reader, user: number): Promise<Shown[]> {
  const rooms = await roomsOf(at, user)
  const unread = new Map((await unreadOf(at, user)).map((row) => [row.room_id, row.unread]))
  const last = new Map(shownTo(user, await viewsOf(at, await lastMessagesOf(at, user))).map((m) => [m.room_id, m]))
  const people = await peopleIn(at, user, rooms)
  return rooms
    .map((room) => shown(room, people.get(room.id)!, { last: last.get(room.id), unread: unread.get(room.id) ?? 0 }))
    .sort((a, b) => newest(b).localeCompare(newest(a), 'en') || b.room_id - a.room_id)
}

const newest = ({ last_message, created_at }: Shown): string => last_message?.timestamp ?? created_at

/** One room as `rooms` shows it; undefined for non-members. Cheap enough for a transaction. */
export async function roomFor(at: Reader, user: number, id: number): Promise<Shown | undefined> {
  const room = await roomOf(at, id, user)
  if (!room) return undefined
  const participants = (await membersOf(at, id, user)).map(({ last_active: _, ...person }) => person)
  const messages = await messagesBefore(at, { room: id, user, before: Number.MAX_SAFE_INTEGER, limit: 1 })
  const [last] = shownTo(user, await viewsOf(at, messages))
  return shown(room, participants, { last, unread: await unreadIn(at, id, user) })
}

export function makeRooms({ database }: { database: Database }) {
  // Many rooms are read over several turns, which hold a connection.
  const exclusively = makeKeyedMutex<number>()
  return {
    /** The rooms of a user, most recent message first. */
    rooms: (user: number): Promise<Shown[]> => exclusively(user, () => database.snapshot((at) => roomsFor(at, user))),

    /** One room of a user; undefined for non-members. */
    room: (user: number, room: number): Promise<Shown | undefined> =>
      database.snapshot((at) => roomFor(at, user, room)),

    async unread(user: number) {
      const rooms = await unreadOf(database.read, user)
      return { rooms, total: rooms.reduce((sum, { unread }) => sum + unread, 0) }
    },

    /** The members of a room, and when each was last active in it. */
    async members(user: number, room: number) {
      const members = await membersOf(database.read, room, user)
      if (members.length === 0) throw notMember()
      return members.map(({ last_active, ...person }) => ({
        ...person,
        last_active: last_active === 0 ? null : iso(last_active),
      }))
    },
  }
}
