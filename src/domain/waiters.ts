import type { Listener } from '../storage/engine/database.ts'

/** Wakes long polls when a feed or a chat room advances. */
export interface Waiters {
  /** Resolves when the head passes `cursor`, after `ms`, or when `signal` aborts. */
  wait(id: number, cursor: number, ms: number, signal: AbortSignal): Promise<void>
  /** Looks at the heads of these, if anybody waits for them. */
  check(ids: Iterable<number>): void
  /** Ends all waits. */
  close(): void
}

interface Parts {
  /** Subscribes to notifications of new heads. */
  hear: (hearer: Listener) => void
  /** Current heads of feeds or rooms. */
  heads: (ids: number[]) => Promise<{ id: number; head: number }[]>
  /** Interval of polling for changes without a notification, ms; one query for all waiters. */
  checkIntervalMs?: number | undefined
}

/** Changes by other processes (commands, other servers) may arrive without a notification, so heads are polled. */
const POLL_MS = 500

interface Waiter {
  cursor: number
  wake: () => void
}

/** Subscribes to notifications with the first wait. */
export function makeWaiters({ hear, heads, checkIntervalMs = POLL_MS }: Parts): Waiters {
  const sleepers = new Map<number, Set<Waiter>>()
  const fresh = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let polling = false
  let hears = false
  let closed = false

  function wake(id: number, head: number): void {
    for (const sleeper of sleepers.get(id) ?? []) if (head > sleeper.cursor) sleeper.wake()
  }

  /** Wakes waiters whose head has moved. Never rejects: a failed poll is retried. */
  async function pollHeads(ids: number[]): Promise<void> {
    const found = ids.length === 0 ? [] : await heads(ids).catch(() => [])
    for (const { id, head } of found) wake(id, head)
  }

  const pollAll = () => pollHeads([...sleepers.keys()])
  const ignore = () => undefined

  // The next poll is scheduled when the last one has ended.
  function schedule(): void {
    if (timer || polling || sleepers.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      polling = true
      pollAll()
        .finally(() => {
          polling = false
          schedule()
        })
        .catch(ignore)
    }, checkIntervalMs)
  }

  /** A change between a request's read and its wait would be missed: poll once more, shared by all new waiters. */
  function pollOnce(id: number): void {
    fresh.add(id)
    if (fresh.size > 1) return
    setImmediate(() => {
      const ids = [...fresh].filter((each) => sleepers.has(each))
      fresh.clear()
      pollHeads(ids).catch(ignore)
    })
  }

  return {
    wait: (id, cursor, ms, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted) return resolve()
        if (!hears) hear({ moved: wake, missed: () => void pollAll().catch(ignore) })
        hears = true
        const own = sleepers.get(id) ?? new Set()
        sleepers.set(id, own)
        const done = () => {
          clearTimeout(limit)
          signal.removeEventListener('abort', done)
          own.delete(sleeper)
          if (own.size === 0 && sleepers.get(id) === own) sleepers.delete(id)
          if (sleepers.size === 0 && timer) timer = void clearTimeout(timer)
          resolve()
        }
        const sleeper: Waiter = { cursor, wake: done }
        const limit = setTimeout(done, ms)
        signal.addEventListener('abort', done)
        own.add(sleeper)
        schedule()
        pollOnce(id)
      }),
    check(ids) {
      for (const id of ids) if (sleepers.has(id)) pollOnce(id)
    },
    close() {
      closed = true
      for (const own of sleepers.values()) for (const { wake } of own) wake()
    },
  }
}
