import { iso, SECOND, type Clock } from '../../base/clock.ts'
import { messagesAfter, messagesChangedAfter, messagesDeletedAfter } from '../../storage/chat/messages.ts'
import { typistsOf, type Typist } from '../../storage/chat/presence.ts'
import { stampOf } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Waiters } from '../waiters.ts'
import { assistantDisplayName, viewsOf, shownTo, type SharedMessage, type ShownMessage } from './message-view.ts'
import { notMember } from './chat-faults.ts'
import { readTimestamp } from './message-text.ts'

/** The events of a room after a timestamp, the same for every reader. */
interface RoomEvents {
  messages: SharedMessage[]
  changed: SharedMessage[]
  deleted: number[]
  typists: Typist[]
  /** The events are complete up to this timestamp. */
  upTo: number
}

export interface Polled {
  messages: ShownMessage[]
  changed: ShownMessage[]
  deleted: number[]
  typing: { user_id: number; display_name: string; is_assistant?: true }[]
  timestamp: string
}

/** Maximum number of each kind in one response; the rest follows in the next. */
const PAGE = 500

interface Deps {
  database: Database
  clock: Clock
  waiters: Waiters
}

const noEvents = (upTo: number, typists: Typist[]): RoomEvents => ({
  messages: [],
  changed: [],
  deleted: [],
  typists,
  upTo,
})

export function makePoll({ database, clock, waiters }: Deps) {
  /** Queries in progress: requests that one message wakes share a query. */
  const queries = new Map<string, Promise<RoomEvents>>()

  async function read(room: number, after: number, stamp: number): Promise<RoomEvents> {
    const since = { room, after, limit: PAGE }
    return database.snapshot(async (at) => {
      const messages = await messagesAfter(at, since)
      const changed = await messagesChangedAfter(at, since)
      const deleted = await messagesDeletedAfter(at, since)
      // Timestamps are unique within a room, so all lists can end where the fullest one ends.
      const upTo = Math.min(
        endOf(
          messages.map(({ timestamp }) => timestamp),
          stamp,
        ),
        endOf(
          changed.map(({ changed_at }) => changed_at),
          stamp,
        ),
        endOf(
          deleted.map(({ deleted_at }) => deleted_at),
          stamp,
        ),
      )
      return {
        messages: await viewsOf(
          at,
          messages.filter(({ timestamp }) => timestamp <= upTo),
        ),
        changed: await viewsOf(
          at,
          changed.filter(({ changed_at }) => changed_at <= upTo),
        ),
        deleted: deleted.filter(({ deleted_at }) => deleted_at <= upTo).map(({ message_id }) => message_id),
        typists: await typistsOf(at, room, clock.now()),
        upTo,
      }
    })
  }

  async function eventsAfter(room: number, after: number, stamp: number): Promise<RoomEvents> {
    // Every event takes a later timestamp: at the latest one there is nothing to query.
    if (after === stamp) return noEvents(stamp, await typistsOf(database.read, room, clock.now()))
    // The room's latest timestamp identifies its state.
    const key = `${room} ${after} ${stamp}`
    let found = queries.get(key)
    if (!found) {
      found = read(room, after, stamp).finally(() => queries.delete(key))
      queries.set(key, found)
    }
    return found
  }

  async function stampFor(user: number, room: number): Promise<number> {
    const stamp = await stampOf(database.read, room, user)
    if (stamp === undefined) throw notMember()
    return stamp
  }

  return {
    /**
     * The events of a room after a timestamp; with `wait` (seconds) waits for one, or until typing users stop. Faults:
     * `forbidden` for a room the user is not in, `bad_request`.
     */
    async poll(
      user: number,
      { room_id: room, after: text, wait = 0 }: { room_id: number; after: string; wait?: number },
      signal: () => AbortSignal,
    ): Promise<Polled> {
      const requested = readTimestamp('after', text)
      let stamp = await stampFor(user, room)
      // A client whose clock is ahead would otherwise miss the events until then.
      const after = Math.min(requested, stamp)
      if (wait > 0 && stamp === after) {
        const now = clock.now()
        const ends = typistsBut(user, await typistsOf(database.read, room, now))
        const timeout = Math.min(wait * SECOND, ...ends.map(({ typing_until }) => typing_until - now + 1))
        await waiters.wait(room, after, timeout, signal())
        stamp = await stampFor(user, room)
      }
      const { messages, changed, deleted, typists, upTo } = await eventsAfter(room, after, stamp)
      return {
        messages: shownTo(user, messages),
        changed: shownTo(user, changed),
        deleted,
        typing: typingBut(user, typists),
        timestamp: iso(upTo),
      }
    },
  }
}

/** The typing users that a user sees: others, and the assistant even when it answers this user. */
const typistsBut = (user: number, typists: readonly Typist[]): Typist[] =>
  typists.filter(({ user_id, is_assistant }) => is_assistant === 1 || user_id !== user)

const typingBut = (user: number, typists: readonly Typist[]): Polled['typing'] =>
  typistsBut(user, typists).map(({ user_id, display_name, is_assistant }) =>
    is_assistant === 1
      ? { user_id, display_name: assistantDisplayName(display_name), is_assistant: true }
      : { user_id, display_name },
  )

/** The timestamp up to which a list is complete: its last one when the list is full, otherwise the end. */
const endOf = (moments: readonly number[], end: number): number => (moments.length < PAGE ? end : moments.at(-1)!)
