import { printable } from '../../base/text.ts'
import type { Api } from '../../client/api.ts'
import { roomsNamed, titleOf, type ChatRoom, type Person } from '../../client/chat/room-names.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { Exit, usage } from '../exit.ts'

export interface RoomList {
  me: number
  rooms: ChatRoom[]
}

export async function readRooms(api: Api): Promise<RoomList> {
  const [{ user }, { rooms }] = await Promise.all([
    api.call(syncAuth.actions.validate, {}, { repeatable: true }),
    api.call(teamChat.actions.rooms, {}),
  ])
  return { me: user.id, rooms }
}

/** The room that an argument names. Exit 5 if there is none, 2 with the candidates if there are several. */
export function findRoom({ me, rooms }: RoomList, text: string): ChatRoom {
  const found = roomsNamed(rooms, me, text)
  if (found.length === 1) return found[0]!
  if (found.length === 0)
    throw new Exit(5, `You are in no room "${text}": svc chat rooms lists your rooms.`, 'not_found')
  const candidates = found.map(
    ({ room_id, participants }) =>
      `#${room_id} (${participants.map(({ username }) => printable(username)).join(', ') || 'nobody'})`,
  )
  throw usage(`Several rooms are called "${text}"; give the number of one: ${candidates.join(', ')}.`)
}

/** The room that an argument names, and its title. */
export async function resolveRoom(api: Api, text: string): Promise<{ room: ChatRoom; title: string; me: number }> {
  const list = await readRooms(api)
  const room = findRoom(list, text)
  return { room, title: titleOf(room, list.me), me: list.me }
}

/** The room to write to. `@NAME` opens a direct conversation with the first message. */
export async function resolveOrOpenRoom(api: Api, text: string): Promise<{ room: ChatRoom; title: string }> {
  const list = await readRooms(api)
  const isNew = text.startsWith('@') && roomsNamed(list.rooms, list.me, text).length === 0
  const room = isNew ? await openDirectRoom(api, text.slice(1)) : findRoom(list, text)
  return { room, title: titleOf(room, list.me) }
}

/** The direct conversation with a user; opens it if there is none. */
export async function openDirectRoom(api: Api, username: string): Promise<ChatRoom> {
  const [other] = await findPeople(api, [username])
  const params = { name: other!.username, type: 'dm' as const, participants: [other!.id] }
  return (await api.call(teamChat.actions.create_room, params, { repeatable: true })).room
}

/** Finds accounts by user name, in the same order. Exit 5 with the unknown names. */
export async function findPeople(api: Api, names: readonly string[]): Promise<Person[]> {
  const { users } = await api.call(teamChat.actions.users, {})
  const byName = new Map(users.map((user) => [user.username.toLowerCase(), user]))
  return names.map((name) => {
    const found = byName.get(name.replace(/^@/, '').toLowerCase())
    if (!found) throw new Exit(5, `There is no user "${name}".`, 'not_found')
    return found
  })
}
