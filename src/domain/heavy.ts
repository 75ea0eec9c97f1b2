import { makeKeyedMutex } from '../base/keyed-mutex.ts'
import { fault } from '../contract/errors.ts'
import { yieldToOthers } from './turn.ts'

/** Operations of one account that may wait, and seconds for Retry-After. */
const WAITING = 8
const RETRY_AFTER = 5

/** Other processes poll SQLite's lock every 10 ms. */
const GAP_MS = 15

/** Waits long enough for another process to acquire the write lock, between two transactions of a command. */
export const pauseForOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, GAP_MS))

/** One heavy operation at a time per account; slices of all accounts are serialised, with other work in between. */
export function makeHeavy() {
  let lane: Promise<unknown> = Promise.resolve()
  let closed = false

  function slice<T>(work: () => Promise<T>, after: () => Promise<unknown> = yieldToOthers): Promise<T> {
    const done = lane.then(() => {
      if (closed) throw fault('busy', { text: 'The service is stopping.' })
      return work()
    })
    lane = done.catch(() => undefined).then(after)
    return done
  }

  return {
    /** Runs an operation after the account's earlier ones. Fault `busy` if too many wait. */
    run: makeKeyedMutex<number>((ahead) => {
      if (ahead > WAITING) throw fault('busy', { text: 'Too many large operations at once.', retryAfter: RETRY_AFTER })
    }),

    slice: <T>(work: () => Promise<T>): Promise<T> => slice(work),

    /** Runs a slice and then lets other processes write, for operations that commands run too. */
    patientSlice: <T>(work: () => Promise<T>): Promise<T> => slice(work, pauseForOthers),

    /** Starts no further slice; resolves after the current one. */
    async close(): Promise<void> {
      closed = true
      await lane
    },
  }
}

export type Heavy = ReturnType<typeof makeHeavy>
