import { isFault } from '../../contract/errors.ts'
import { teamChat } from '../../contract/team-chat.ts'
import type { Connection } from './connection.ts'
import type { Message } from './room-feed.ts'
import type { ChatRoom } from './room-names.ts'
import type { ChatState } from './chat-state.ts'

interface Parts {
  state: ChatState
  connection: Connection
  changed: () => void
  /** Called when the open room no longer exists. */
  lost: () => void
}

const newest = ({ last_message, created_at }: ChatRoom): string => last_message?.timestamp ?? created_at

/** The list of rooms, most recent message first. */
export function makeSessionRooms({ state, connection, changed, lost }: Parts) {
  function drop(room: number): void {
    state.rooms = state.rooms.filter(({ room_id }) => room_id !== room)
    state.logs.delete(room)
    state.unread.delete(room)
    state.mentions.delete(room)
    if (state.current === room) {
      state.current = undefined
      lost()
    }
    changed()
  }

  return {
    /** Moves a room to its position after a new message. */
    noteLast(message: Message): void {
      const room = state.rooms.find(({ room_id }) => room_id === message.room_id)
      if (!room || (room.last_message && room.last_message.timestamp >= message.timestamp)) return
      room.last_message = message
      state.rooms.sort((a, b) => newest(b).localeCompare(newest(a), 'en') || b.room_id - a.room_id)
    },
    /** For errors of a room: if the user was removed from it, drops the room instead of failing. */
    unlessGone: (room: number) => (error: unknown) => {
      if (!isFault(error, 'forbidden')) throw error
      drop(room)
    },
    async load(): Promise<void> {
      const { rooms } = await connection.persist(() => connection.api.call(teamChat.actions.rooms, {}))
      state.rooms = rooms
      for (const { room_id, unread_count } of rooms)
        if (!state.unread.has(room_id)) state.unread.set(room_id, unread_count)
      const gone = [...state.unread.keys()].filter((room) => !rooms.some(({ room_id }) => room_id === room))
      for (const room of gone) drop(room)
      changed()
    },
  }
}

export type SessionRooms = ReturnType<typeof makeSessionRooms>
