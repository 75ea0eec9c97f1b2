import type { Message, Polled } from './follow-room.ts'

/** What is known of the messages of a room, oldest first. */
export interface Log {
  messages: Message[]
  /** Whether there are older ones on the server. */
  hasMore: boolean
  /** Everything up to this moment is known (ISO 8601). */
  position: string
}

const inOrder = (a: Message, b: Message): number => Date.parse(a.timestamp) - Date.parse(b.timestamp)

/** Takes messages in, whether they are new, older or known already; later knowledge replaces earlier. Returns what was new. */
export function takeIn(log: Log, messages: readonly Message[]): Message[] {
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

/** Takes the answer of a poll in and moves on. Returns the messages that are new. */
export function takePoll(log: Log, { messages, changed, deleted, timestamp }: Polled): Message[] {
  const fresh = takeIn(log, messages)
  const known = new Set(log.messages.map(({ message_id }) => message_id))
  takeIn(
    log,
    // What is older than the pages read so far is read when it is scrolled to.
    changed.filter(({ message_id }) => known.has(message_id)),
  )
  if (deleted.length > 0) {
    const gone = new Set(deleted)
    log.messages = log.messages.filter(({ message_id }) => !gone.has(message_id))
  }
  log.position = timestamp
  return fresh
}
