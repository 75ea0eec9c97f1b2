/** Wakes requests that wait for the feed of an account to move. */
export interface News {
  /** Tells this process that an account's feed moved. */
  announce(user: number): void
  /** Resolves when the feed moves past `cursor`, after `ms`, or when `signal` aborts. */
  wait(user: number, cursor: number, ms: number, signal: AbortSignal): Promise<void>
  /** Lets everybody go. */
  close(): void
}

/** Changes that other processes make (an admin command, another server) are looked for this often, for all waiting at once. */
const LOOK_EVERY_MS = 500

interface Sleeper {
  cursor: number
  wake: () => void
}

/** `heads` answers the head of each account's feed. */
export function makeNews(heads: (users: number[]) => Promise<{ user_id: number; seq: number }[]>): News {
  const sleepers = new Map<number, Set<Sleeper>>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function wake(user: number, seq: number): void {
    for (const sleeper of sleepers.get(user) ?? []) if (seq > sleeper.cursor) sleeper.wake()
  }

  async function look(): Promise<void> {
    for (const { user_id, seq } of await heads([...sleepers.keys()])) wake(user_id, seq)
  }

  // The next look is due only after the last one; a failed look is no news, and the request it was for ends by its own time.
  function schedule(): void {
    if (timer || sleepers.size === 0) return
    timer = setTimeout(() => {
      look()
        .catch(() => undefined)
        .finally(() => {
          timer = undefined
          schedule()
        })
    }, LOOK_EVERY_MS)
  }

  return {
    announce: (user) => wake(user, Infinity),
    wait: (user, cursor, ms, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted) return resolve()
        const own = sleepers.get(user) ?? new Set()
        sleepers.set(user, own)
        const done = () => {
          clearTimeout(limit)
          signal.removeEventListener('abort', done)
          own.delete(sleeper)
          if (own.size === 0 && sleepers.get(user) === own) sleepers.delete(user)
          if (sleepers.size === 0 && timer) timer = void clearTimeout(timer)
          resolve()
        }
        const sleeper: Sleeper = { cursor, wake: done }
        const limit = setTimeout(done, ms)
        signal.addEventListener('abort', done)
        own.add(sleeper)
        schedule()
      }),
    close() {
      closed = true
      for (const own of sleepers.values()) for (const { wake } of own) wake()
    },
  }
}
