/** Wakes requests that wait for something to move on: the feed of an account, a chat room. */
export interface News {
  /** Tells this process that it moved. */
  announce(id: number): void
  /** Resolves when it moves past `cursor`, after `ms`, or when `signal` aborts. */
  wait(id: number, cursor: number, ms: number, signal: AbortSignal): Promise<void>
  /** Lets everybody go. */
  close(): void
}

/** Changes that other processes make (an admin command, another server) are looked for this often, for all waiting at once. */
const LOOK_EVERY_MS = 500

interface Sleeper {
  cursor: number
  wake: () => void
}

/** `heads` answers how far each of them is. */
export function makeNews(heads: (ids: number[]) => Promise<{ id: number; head: number }[]>): News {
  const sleepers = new Map<number, Set<Sleeper>>()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function wake(id: number, head: number): void {
    for (const sleeper of sleepers.get(id) ?? []) if (head > sleeper.cursor) sleeper.wake()
  }

  async function look(): Promise<void> {
    for (const { id, head } of await heads([...sleepers.keys()])) wake(id, head)
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
    announce: (id) => wake(id, Infinity),
    wait: (id, cursor, ms, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted) return resolve()
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
