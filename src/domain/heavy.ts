import { makeKeyedMutex } from '../base/keyed-mutex.ts'
import { fault } from '../contract/errors.ts'
import { turn } from './turn.ts'

/** Operations of one account that may wait for their turn, and seconds after which another try makes sense. */
const WAITING = 8
const RETRY_AFTER = 5

/** SQLite's other processes look every 10 ms whether they can write. */
const GAP_MS = 15

/** Waits so long that other processes which want to write get their turn: for commands, between two transactions of many. */
export const giveWay = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, GAP_MS))

/**
 * Keeps heavy operations from holding up everybody else: an account does one at a time, and the slices they consist of are
 * done one after another, whoever they belong to, with a turn of the event loop between them.
 */
export function makeHeavy() {
  let lane: Promise<unknown> = Promise.resolve()
  let closed = false

  /** Runs one slice of an operation. */
  function slice<T>(work: () => Promise<T>, after: () => Promise<unknown> = turn): Promise<T> {
    const done = lane.then(() => {
      if (closed) throw fault('busy', { text: 'The service is stopping.' })
      return work()
    })
    lane = done.catch(() => undefined).then(after)
    return done
  }

  return {
    /** Runs the operation when those that the account began before are over. Fault `busy` when too many wait already. */
    run: makeKeyedMutex<number>((ahead) => {
      if (ahead > WAITING) throw fault('busy', { text: 'Too many large operations at once.', retryAfter: RETRY_AFTER })
    }),

    slice: <T>(work: () => Promise<T>): Promise<T> => slice(work),

    /** The same for operations of commands too: processes that wait for the database get it in between. */
    patientSlice: <T>(work: () => Promise<T>): Promise<T> => slice(work, giveWay),

    /** Begins no slice any more; what was begun ends. */
    async close(): Promise<void> {
      closed = true
      await lane
    },
  }
}

export type Heavy = ReturnType<typeof makeHeavy>
