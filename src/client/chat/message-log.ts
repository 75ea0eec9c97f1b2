import type { Message, Polled } from './room-feed.ts'

/** The known messages of a room, oldest first. */
export interface Log {
  messages: Message[]
  /** Whether the server has older ones. */
  hasMore: boolean
  /** Everything up to this time is known (ISO 8601). */
  position: string
}

const inOrder = (a: Message, b: Message): number => Date.parse(a.timestamp) - Date.parse(b.timestamp)

/** Adds or replaces messages. Returns the new ones. */
export function mergeMessages(log: Log, messages: readonly Message[]): Message[] {
  const places = new Map(log.messages.map(({ message_id }, place) => [message_id, place]))
  const fresh: Message[] = []
  for (const message of messages) {
    const place = places.get(message.message_id)
    if (place === undefined) fresh.push(message)
    else log.messages[place] = message
  }
  if (fresh.length > 0) log.messages = [...log.messages, ...fresh].sort(inOrder)
  return fresh
}

/** Applies the response of a poll. Returns the new messages. */
export function takePoll(log: Log, { messages, changed, deleted, timestamp }: Polled): Message[] {
  const fresh = mergeMessages(log, messages)
  const known = new Set(log.messages.map(({ message_id }) => message_id))
  mergeMessages(
    log,
    // Older messages than those loaded are fetched on scrolling.
    changed.filter(({ message_id }) => known.has(message_id)),
  )
  if (deleted.length > 0) {
    const gone = new Set(deleted)
    log.messages = log.messages.filter(({ message_id }) => !gone.has(message_id))
  }
  log.position = timestamp
  return fresh
}
