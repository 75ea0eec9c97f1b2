import { partnerOf, titleOf } from '../../../client/chat/room-names.ts'
import type { Message } from '../../../client/chat/room-feed.ts'
import { teamChat } from '../../../contract/team-chat.ts'
import { openDirectRoom } from '../room-lookup.ts'
import { formatTime } from '../../time-format.ts'
import type { ScreenState } from './screen-state.ts'
import { nameSpan } from './history-layout.ts'
import { makeSelectList, type ListItem } from './select-list.ts'
import { sanitize } from './markup.ts'

/** Most pages read to reach a search result. */
const MAX_PAGES = 40

/** Lists all rooms, and the users without a conversation yet. */
export function pickRoom(screen: ScreenState, rest = ''): void {
  const { state, api, loadRooms } = screen.session
  const me = state.me?.id ?? 0
  const known = new Set(state.rooms.map((room) => partnerOf(room, me)?.id))
  const rooms = state.rooms.map((room): ListItem => {
    const partner = partnerOf(room, me)
    const unread = state.unread.get(room.room_id) ?? 0
    const title = titleOf(room, me)
    return {
      label: [
        { text: sanitize(title), bold: unread > 0 },
        { text: unread > 0 ? `  ${unread}` : '', color: 'yellow' },
      ],
      find: `${title} ${partner?.display_name ?? ''}`,
      choose: () => screen.open(room.room_id),
    }
  })
  const people = state.people
    .filter(({ id }) => id !== me && !known.has(id))
    .map((person): ListItem => ({
      label: [{ text: `@${sanitize(person.username)}` }, { text: `  ${sanitize(person.display_name)}`, dim: true }],
      find: `@${person.username} ${person.display_name}`,
      choose: () =>
        screen.runTask(async () => {
          const { room_id } = await openDirectRoom(api, person.username)
          await loadRooms()
          screen.open(room_id)
        }),
    }))
  const list = makeSelectList('Go to', [...rooms, ...people], 'There are no rooms yet: /create NAME creates one.')
  list.filter.set(rest)
  screen.show(list)
}

/** Lists the messages that contain a text; choosing one shows it in its room. */
export async function searchMessages(screen: ScreenState, query: string): Promise<void> {
  const { state, api } = screen.session
  const { messages } = await api.call(teamChat.actions.search, { query })
  const titles = new Map(state.rooms.map((room) => [room.room_id, titleOf(room, state.me?.id ?? 0)]))
  const items = messages.map((message): ListItem => ({
    label: [
      {
        text: `${formatTime(Date.parse(message.timestamp))} ${sanitize(titles.get(message.room_id) ?? '')} `,
        dim: true,
      },
      nameSpan(message),
      { text: `: ${sanitize(message.content.replace(/\s+/g, ' ').slice(0, 500))}` },
    ],
    find: `${message.username} ${message.content} ${titles.get(message.room_id) ?? ''}`,
    choose: () => screen.runTask(() => showMessage(screen, message)),
  }))
  screen.show(makeSelectList(`Messages with "${sanitize(query)}"`, items, 'There are none.'))
}

async function showMessage(screen: ScreenState, { room_id, message_id }: Message): Promise<void> {
  const { state } = screen.session
  screen.open(room_id)
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const log = state.logs.get(room_id)
    if (log?.messages.some((message) => message.message_id === message_id)) {
      screen.mode = { kind: 'select', message: message_id }
      return
    }
    if (log && !log.hasMore) break
    if (log) await screen.session.older()
    else await new Promise((resolve) => setTimeout(resolve, 50))
  }
  screen.notify('The message is too old to be shown in its place.', 'error')
}
