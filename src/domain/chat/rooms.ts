import { iso } from '../../base/clock.ts'
import type { Answer } from '../../contract/define.ts'
import type { teamChat } from '../../contract/team-chat.ts'
import { lastMessagesOf } from '../../storage/chat/messages.ts'
import { membersOf, participantsOf, roomsOf, unreadOf, type Person } from '../../storage/chat/rooms.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { viewsOf, shownTo } from './message-view.ts'
import { notMember } from './chat-faults.ts'

type Shown = Answer<typeof teamChat.actions.rooms>['rooms'][number]

/** The rooms of a user, in a constant number of queries. */
async function roomsFor(at: Reader, user: number): Promise<Shown[]> {
  const rooms = await roomsOf(at, user)
  const unread = new Map((await unreadOf(at, user)).map((row) => [row.room_id, row.unread]))
  const last = new Map(shownTo(user, await viewsOf(at, await lastMessagesOf(at, user))).map((m) => [m.room_id, m]))
  const people = new Map<number, Person[]>(rooms.map(({ id }) => [id, []]))
  for (const { room_id, ...person } of await participantsOf(at, user)) people.get(room_id)!.push(person)
  return rooms
    .map(({ id, created_at, ...room }) => ({
      room_id: id,
      ...room,
      created_at: iso(created_at),
      participant_count: people.get(id)!.length,
      participants: people.get(id)!,
      last_message: last.get(id) ?? null,
      unread_count: unread.get(id) ?? 0,
    }))
    .sort((a, b) => newest(b).localeCompare(newest(a), 'en') || b.room_id - a.room_id)
}

const newest = ({ last_message, created_at }: Shown): string => last_message?.timestamp ?? created_at

export const roomFor = async (at: Reader, user: number, room: number): Promise<Shown> =>
  (await roomsFor(at, user)).find(({ room_id }) => room_id === room)!

export const makeRooms = ({ database }: { database: Database }) => ({
  /** The rooms of a user, most recent message first. */
  rooms: (user: number): Promise<Shown[]> => database.snapshot((at) => roomsFor(at, user)),

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
})
