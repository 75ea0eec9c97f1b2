import { headsWithPending } from '../../storage/chat/pending-changes.ts'
import type { Database } from '../../storage/engine/database.ts'
import { makeWaiters } from '../waiters.ts'

interface Waiting {
  user: number
  /** Its large rooms: a change of one is not in the feed yet. */
  rooms: readonly number[]
  cursor: number
  /** Whether changes of these rooms are pending that cannot be taken over now. */
  isBehind: boolean
}

/** Long polls for the feeds of accounts. */
export interface FeedWaiters {
  /** Resolves when there is something after the cursor, or to take over; after `ms`, or when `signal` aborts. */
  wait(waiting: Waiting, ms: number, signal: AbortSignal): Promise<void>
  close(): void
}

interface Parts {
  database: Database
  checkIntervalMs?: number | undefined
}

export function makeFeedWaiters({ database, checkIntervalMs }: Parts): FeedWaiters {
  const waiters = makeWaiters({
    hear: (hearer) => database.listen('feed', hearer),
    heads: (users) => headsWithPending(database.read, users),
    checkIntervalMs,
  })
  /** How many requests of each account wait, by large room. */
  const inRooms = new Map<number, Map<number, number>>()
  let hears = false

  function count(room: number, user: number, by: number): void {
    const users = inRooms.get(room) ?? new Map<number, number>()
    const waiting = (users.get(user) ?? 0) + by
    if (waiting > 0) users.set(user, waiting)
    else users.delete(user)
    if (users.size > 0) inRooms.set(room, users)
    else inRooms.delete(room)
  }

  return {
    async wait({ user, rooms, cursor, isBehind }, ms, signal) {
      if (rooms.length > 0 && !hears) {
        hears = true
        // Notifications that were lost are made up for by those of feeds.
        database.listen('room', {
          moved: (room) => waiters.check(inRooms.get(room)?.keys() ?? []),
          missed: () => undefined,
        })
      }
      for (const room of rooms) count(room, user, 1)
      try {
        // Pending changes count as one position; they must not wake anybody at once.
        await waiters.wait(user, isBehind ? cursor + 1 : cursor, ms, signal)
      } finally {
        for (const room of rooms) count(room, user, -1)
      }
    },
    close: waiters.close,
  }
}
