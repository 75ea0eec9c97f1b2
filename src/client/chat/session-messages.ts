import type { Clock } from '../../base/clock.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Connection } from './connection.ts'
import type { Message, Polled } from './room-feed.ts'
import { mergeMessages, takePoll, type Log } from './message-log.ts'
import type { SessionRooms } from './session-rooms.ts'
import { isForMe, isMentioned, type ChatState } from './chat-state.ts'

const { actions } = teamChat

const PAGE = 50

interface Parts {
  state: ChatState
  connection: Connection
  rooms: SessionRooms
  clock: Clock
  changed: () => void
  heard: (message: Message, forMe: boolean) => void
  arrived: (message: Message) => void
  background: (work: Promise<unknown>) => void
  isFocused: () => boolean
}

/** The known messages of the rooms. */
export function makeSessionMessages(parts: Parts) {
  const { state, connection, rooms, changed } = parts
  const { api, persist } = connection

  function markRead(room_id: number): void {
    if (!parts.isFocused() || room_id !== state.current) return
    state.unread.set(room_id, 0)
    state.mentions.delete(room_id)
    const read = persist(() => api.call(actions.read, { room_id }, { repeatable: true }))
    parts.background(read.catch(rooms.unlessGone(room_id)))
  }

  function note(message: Message): void {
    rooms.noteLast(message)
    if (message.user_id === state.me?.id) return parts.arrived(message)
    const isOpen = message.room_id === state.current
    if (!isOpen && state.me && isMentioned(message.content, state.me.username)) state.mentions.add(message.room_id)
    if (isOpen && !parts.isFocused()) state.newFrom ??= message.message_id
    parts.heard(message, isForMe(state, message))
  }

  /** Applies the result of a poll, and reports new messages. */
  function take(room: number, log: Log, polled: Polled): void {
    const fresh = takePoll(log, polled)
    if (room === state.current) state.typing = polled.typing
    for (const message of fresh) note(message)
    if (fresh.length > 0) markRead(room)
    changed()
  }

  return {
    take,
    markRead,
    async load(room_id: number): Promise<Log> {
      const known = state.logs.get(room_id)
      if (known) return known
      const { messages, has_more } = await persist(() => api.call(actions.messages, { room_id, limit: PAGE }))
      const created = state.rooms.find((room) => room.room_id === room_id)?.created_at
      const position = messages.at(-1)?.timestamp ?? created ?? new Date(parts.clock.now()).toISOString()
      const log = { messages, hasMore: has_more, position }
      state.logs.set(room_id, log)
      return log
    },
    /** Fetches new messages of a room that is not open. */
    async catchUp(room_id: number): Promise<void> {
      const room = state.rooms.find((each) => each.room_id === room_id)
      if (!room) return
      const position = room.last_message?.timestamp ?? room.created_at
      const log = state.logs.get(room_id) ?? { messages: [], hasMore: true, position }
      take(room_id, log, await persist(() => api.call(actions.poll, { room_id, after: log.position })))
    },
    /** Loads the page before the oldest known message. */
    async older(): Promise<void> {
      const room_id = state.current
      const log = room_id === undefined ? undefined : state.logs.get(room_id)
      const first = log?.messages[0]
      if (room_id === undefined || !log?.hasMore || !first) return
      const { messages, has_more } = await api.call(actions.messages, { room_id, before: first.timestamp, limit: PAGE })
      mergeMessages(log, messages)
      log.hasMore = has_more
      changed()
    },
  }
}
