import type { Message, Polled } from './room-feed.ts'
import type { Log } from './message-log.ts'
import type { ChatRoom, Person } from './room-names.ts'

/** An own message that the server has not confirmed yet. */
export interface Pending {
  client_id: string
  room_id: number
  content: string
  reply_to: number | undefined
}

/** Why there is no connection. Resolves itself when the server is back, or after a new `svc login`. */
export interface ConnectionError {
  kind: 'away' | 'signed-out'
  error: Error
}

/** State of a chat client; only the session changes it. */
export interface ChatState {
  me: Person | undefined
  /** Most recent message first. */
  rooms: ChatRoom[]
  /** All users. */
  people: Person[]
  online: Set<number>
  current: number | undefined
  logs: Map<number, Log>
  typing: Polled['typing']
  unread: Map<number, number>
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

/** Whether a text mentions a user as `@name`, not as part of another word. */
export function isMentioned(content: string, username: string): boolean {
  const text = content.toLowerCase()
  const name = `@${username.toLowerCase()}`
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = text.slice(0, at).at(-1) ?? ' '
    const after = text.slice(at + name.length, at + name.length + 2)
    // A full stop may be part of a name or end a sentence.
    if (!WORD.test(before) && !/^[.-]?[\p{L}\p{N}_]/u.test(after)) return true
  }
  return false
}

/** Whether a message notifies the user: a direct message, or a mention by another user. */
export const isForMe = (state: ChatState, message: Message): boolean => {
  const { me, rooms } = state
  if (!me || message.user_id === me.id) return false
  const room = rooms.find(({ room_id }) => room_id === message.room_id)
  return room?.type === 'dm' || isMentioned(message.content, me.username)
}
