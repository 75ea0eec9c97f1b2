import { partnerOf, titleOf } from '../../../client/chat/room-names.ts'
import type { Message } from '../../../client/chat/follow-room.ts'
import { teamChat } from '../../../contract/team-chat.ts'
import { openDirect } from '../place.ts'
import { formatTime } from '../../times.ts'
import type { Desk } from './desk.ts'
import { nameSpan } from './history.ts'
import { makeList, type Item } from './list.ts'
import { safe } from './markup.ts'

/** How many pages are read back to show a message that was found. */
const PAGES_BACK = 40

/** Offers all rooms, and people one has not talked to yet. */
export function goTo(desk: Desk, rest = ''): void {
  const { state, api, loadRooms } = desk.session
  const me = state.me?.id ?? 0
  const known = new Set(state.rooms.map((room) => partnerOf(room, me)?.id))
  const rooms = state.rooms.map((room): Item => {
    const partner = partnerOf(room, me)
    const unread = state.unread.get(room.room_id) ?? 0
    const title = titleOf(room, me)
    return {
      label: [
        { text: safe(title), bold: unread > 0 },
        { text: unread > 0 ? `  ${unread}` : '', color: 'yellow' },
      ],
      find: `${title} ${partner?.display_name ?? ''}`,
      choose: () => desk.open(room.room_id),
    }
  })
  const people = state.people
    .filter(({ id }) => id !== me && !known.has(id))
    .map((person): Item => ({
      label: [{ text: `@${safe(person.username)}` }, { text: `  ${safe(person.display_name)}`, dim: true }],
      find: `@${person.username} ${person.display_name}`,
      choose: () =>
        desk.doing(async () => {
          const { room_id } = await openDirect(api, person.username)
          await loadRooms()
          desk.open(room_id)
        }),
    }))
  const list = makeList('Go to', [...rooms, ...people], 'There are no rooms yet: /create NAME opens one.')
  list.filter.set(rest)
  desk.show(list)
}

/** Shows messages that contain a text; the one chosen is shown where it was said. */
export async function search(desk: Desk, query: string): Promise<void> {
  const { state, api } = desk.session
  const { messages } = await api.call(teamChat.actions.search, { query })
  const titles = new Map(state.rooms.map((room) => [room.room_id, titleOf(room, state.me?.id ?? 0)]))
  const items = messages.map((message): Item => ({
    label: [
      { text: `${formatTime(Date.parse(message.timestamp))} ${safe(titles.get(message.room_id) ?? '')} `, dim: true },
      nameSpan(message),
      { text: `: ${safe(message.content.replace(/\s+/g, ' ').slice(0, 500))}` },
    ],
    find: `${message.username} ${message.content} ${titles.get(message.room_id) ?? ''}`,
    choose: () => desk.doing(() => show(desk, message)),
  }))
  desk.show(makeList(`Messages with "${safe(query)}"`, items, 'There are none.'))
}

async function show(desk: Desk, { room_id, message_id }: Message): Promise<void> {
  const { state } = desk.session
  desk.open(room_id)
  for (let pages = 0; pages < PAGES_BACK; pages++) {
    const log = state.logs.get(room_id)
    if (log?.messages.some((message) => message.message_id === message_id)) {
      desk.mode = { kind: 'select', message: message_id }
      return
    }
    if (log && !log.hasMore) break
    if (log) await desk.session.older()
    else await new Promise((resolve) => setTimeout(resolve, 50))
  }
  desk.say('The message lies too far back to be shown in its place.', 'error')
}
