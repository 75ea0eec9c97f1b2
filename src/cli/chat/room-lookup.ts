import { printable } from '../../base/text.ts'
import type { Api } from '../../client/api.ts'
import { roomsNamed, titleOf, type ChatRoom, type Person } from '../../client/chat/room-names.ts'
import { syncAuth } from '../../contract/sync-auth.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { Exit, usage } from '../exit.ts'

/** A signed-in account and the rooms it is in. */
export interface RoomList {
  me: number
  rooms: ChatRoom[]
}

/** Who one is, and one's rooms. */
export async function readRooms(api: Api): Promise<RoomList> {
  const [{ user }, { rooms }] = await Promise.all([
    api.call(syncAuth.actions.validate, {}, { repeatable: true }),
    api.call(teamChat.actions.rooms, {}),
  ])
  return { me: user.id, rooms }
}

/** The room that an argument names. Exit 5 when there is none, 2 with the candidates when there are several. */
export function findRoom({ me, rooms }: RoomList, text: string): ChatRoom {
  const found = roomsNamed(rooms, me, text)
  if (found.length === 1) return found[0]!
  if (found.length === 0)
    throw new Exit(5, `You are in no room "${text}": svc chat rooms lists those you are in.`, 'not_found')
  const candidates = found.map(
    ({ room_id, participants }) =>
      `#${room_id} (${participants.map(({ username }) => printable(username)).join(', ') || 'nobody'})`,
  )
  throw usage(`Several rooms are called "${text}", name one by its number: ${candidates.join(', ')}.`)
}

/** The room that an argument names, and how to call it. */
export async function resolveRoom(api: Api, text: string): Promise<{ room: ChatRoom; title: string; me: number }> {
  const list = await readRooms(api)
  const room = findRoom(list, text)
  return { room, title: titleOf(room, list.me), me: list.me }
}

/** The room to write to: a conversation that is named by its user begins with the first message. */
export async function resolveOrOpenRoom(api: Api, text: string): Promise<{ room: ChatRoom; title: string }> {
  const list = await readRooms(api)
  const isNew = text.startsWith('@') && roomsNamed(list.rooms, list.me, text).length === 0
  const room = isNew ? await openDirectRoom(api, text.slice(1)) : findRoom(list, text)
  return { room, title: titleOf(room, list.me) }
}

/** The direct conversation with somebody, which is opened when there is none yet. */
export async function openDirectRoom(api: Api, username: string): Promise<ChatRoom> {
  const [other] = await findPeople(api, [username])
  const params = { name: other!.username, type: 'dm' as const, participants: [other!.id] }
  return (await api.call(teamChat.actions.create_room, params, { repeatable: true })).room
}

/** Accounts by their user names, in that order. Exit 5 that names whom there is not. */
export async function findPeople(api: Api, names: readonly string[]): Promise<Person[]> {
  const { users } = await api.call(teamChat.actions.users, {})
  const byName = new Map(users.map((user) => [user.username.toLowerCase(), user]))
  return names.map((name) => {
    const found = byName.get(name.replace(/^@/, '').toLowerCase())
    if (!found) throw new Exit(5, `There is no user "${name}" to talk to.`, 'not_found')
    return found
  })
}
