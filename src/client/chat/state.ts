import type { Message, Polled } from './follow-room.ts'
import type { Log } from './log.ts'
import type { ChatRoom, Person } from './room-names.ts'

/** An own message that the server has not confirmed yet. */
export interface Pending {
  client_id: string
  room_id: number
  content: string
  reply_to: number | undefined
}

/** Why nothing arrives at the moment. Both pass by themselves: when the server is back, and after a new `svc login`. */
export interface ConnectionError {
  kind: 'away' | 'signed-out'
  error: Error
}

/** What a chat client knows; only the session changes it. */
export interface ChatState {
  me: Person | undefined
  /** The one with the newest message first. */
  rooms: ChatRoom[]
  /** Everybody one can talk to. */
  people: Person[]
  online: Set<number>
  /** The room that is open. */
  current: number | undefined
  logs: Map<number, Log>
  /** Who is typing in the open room. */
  typing: Polled['typing']
  unread: Map<number, number>
  /** Rooms in which somebody named the user since they were last open. */
  mentions: Set<number>
  /** The first message that was unread when the room was opened. */
  newFrom: number | undefined
  pending: Pending[]
  connectionError: ConnectionError | undefined
}

export const emptyState = (): ChatState => ({
  me: undefined,
  rooms: [],
  people: [],
  online: new Set(),
  current: undefined,
  logs: new Map(),
  typing: [],
  unread: new Map(),
  mentions: new Set(),
  newFrom: undefined,
  pending: [],
  connectionError: undefined,
})

const WORD = /[\p{L}\p{N}_]/u

/** Whether a text names a user as `@name`, not as a part of another word. */
export function isMentioned(content: string, username: string): boolean {
  const text = content.toLowerCase()
  const name = `@${username.toLowerCase()}`
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = text.slice(0, at).at(-1) ?? ' '
    const after = text.slice(at + name.length, at + name.length + 2)
    // A full stop ends a sentence as well as it stands within a name.
    if (!WORD.test(before) && !/^[.-]?[\p{L}\p{N}_]/u.test(after)) return true
  }
  return false
}

/** Whether a message is worth drawing attention to: said by somebody else, to the user alone or by name. */
export const isForMe = (state: ChatState, message: Message): boolean => {
  const { me, rooms } = state
  if (!me || message.user_id === me.id) return false
  const room = rooms.find(({ room_id }) => room_id === message.room_id)
  return room?.type === 'dm' || isMentioned(message.content, me.username)
}
