import { iso, SECOND, type Clock } from '../../base/clock.ts'
import { messagesAfter, messagesChangedAfter, messagesDeletedAfter } from '../../storage/chat/messages.ts'
import { typistsOf, type Typist } from '../../storage/chat/presence.ts'
import { stampOf } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Waiters } from '../waiters.ts'
import { nameShown, shareAll, shownTo, type SharedMessage, type ShownMessage } from './message-view.ts'
import { notMember } from './refusals.ts'
import { readMoment } from './text.ts'

/** What happened in a room, alike for everybody who asks from the same moment on. */
interface Happened {
  messages: SharedMessage[]
  changed: SharedMessage[]
  deleted: number[]
  typists: Typist[]
  /** Everything up to this moment is told. */
  upTo: number
}

export interface Polled {
  messages: ShownMessage[]
  changed: ShownMessage[]
  deleted: number[]
  typing: { user_id: number; display_name: string; is_assistant?: true }[]
  timestamp: string
}

/** Most of each kind that one answer tells; the rest comes with the next. */
const PAGE = 500

interface Parts {
  database: Database
  clock: Clock
  news: Waiters
}

const quiet = (upTo: number, typists: Typist[]): Happened => ({ messages: [], changed: [], deleted: [], typists, upTo })

/** Following a room. */
export function makePoll({ database, clock, news }: Parts) {
  /** Answers being put together: the many whom one message wakes at once share one. */
  const underway = new Map<string, Promise<Happened>>()

  async function read(room: number, after: number, stamp: number): Promise<Happened> {
    const since = { room, after, limit: PAGE }
    return database.snapshot(async (at) => {
      const messages = await messagesAfter(at, since)
      const changed = await messagesChangedAfter(at, since)
      const deleted = await messagesDeletedAfter(at, since)
      // A moment belongs to one event of its room, so where the fullest list ends, all can end.
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
        messages: await shareAll(
          at,
          messages.filter(({ timestamp }) => timestamp <= upTo),
        ),
        changed: await shareAll(
          at,
          changed.filter(({ changed_at }) => changed_at <= upTo),
        ),
        deleted: deleted.filter(({ deleted_at }) => deleted_at <= upTo).map(({ message_id }) => message_id),
        typists: await typistsOf(at, room, clock.now()),
        upTo,
      }
    })
  }

  async function happened(room: number, after: number, stamp: number): Promise<Happened> {
    // Whatever happens takes a later stamp: at the last one there is nothing to look for.
    if (after === stamp) return quiet(stamp, await typistsOf(database.read, room, clock.now()))
    // The stamp of a room names its state: who saw another one wants another answer.
    const key = `${room} ${after} ${stamp}`
    let found = underway.get(key)
    if (!found) {
      found = read(room, after, stamp).finally(() => underway.delete(key))
      underway.set(key, found)
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
     * What happened in a room after a moment; with `wait` (seconds) it is held until something does, or until those who
     * type stop. Faults: `forbidden` for a room the user is not in, `bad_request`.
     */
    async poll(
      user: number,
      { room_id: room, after: text, wait = 0 }: { room_id: number; after: string; wait?: number },
      signal: () => AbortSignal,
    ): Promise<Polled> {
      const asked = readMoment('after', text)
      let stamp = await stampFor(user, room)
      // A client whose clock is ahead of the room's would otherwise miss what happens until then.
      const after = Math.min(asked, stamp)
      if (wait > 0 && stamp === after) {
        const now = clock.now()
        const ends = typistsBut(user, await typistsOf(database.read, room, now))
        const most = Math.min(wait * SECOND, ...ends.map(({ typing_until }) => typing_until - now + 1))
        await news.wait(room, after, most, signal())
        stamp = await stampFor(user, room)
      }
      const { messages, changed, deleted, typists, upTo } = await happened(room, after, stamp)
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

/** Who types, for one user: others, and the assistant even where it answers them. */
const typistsBut = (user: number, typists: readonly Typist[]): Typist[] =>
  typists.filter(({ user_id, is_assistant }) => is_assistant === 1 || user_id !== user)

const typingBut = (user: number, typists: readonly Typist[]): Polled['typing'] =>
  typistsBut(user, typists).map(({ user_id, display_name, is_assistant }) =>
    is_assistant === 1
      ? { user_id, display_name: nameShown(display_name), is_assistant: true }
      : { user_id, display_name },
  )

/** Up to where a list tells everything: to its last moment when it is full, else to the end. */
const endOf = (moments: readonly number[], end: number): number => (moments.length < PAGE ? end : moments.at(-1)!)
