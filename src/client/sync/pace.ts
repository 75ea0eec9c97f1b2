import type { Clock } from '../../base/clock.ts'
import type { AnyAction } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../trouble.ts'
import { makeTurns, type Calls, type Limits } from './turns.ts'

/** Waits until `ms` have passed; rejects with the signal's reason when it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

/** Does one request when the server's limits allow it, again when it was refused for coming too early, or got lost on the way. */
export type Pace = <T>(action: Pick<AnyAction, 'limit'>, request: () => Promise<T>) => Promise<T>

export interface PaceParts {
  limits: () => Limits
  /** Requests that earlier runs made: a server's window does not begin anew with a process. */
  calls: Calls
  clock: Clock
  sleep: Sleep
  signal?: AbortSignal | undefined
  /** Told of waits of a second and more. */
  onWait?: (limit: string, ms: number) => void
  /** Told of each request that is let through. */
  onRequest?: (limit: string) => void
  /** Stores `calls`, now and then: a run that is killed must not make the next one forget. */
  keep?: (() => void) | undefined
}

/** What a run knows of its requests. */
export interface Paced {
  pace: Pace
  /** Requests so far. */
  count: () => number
  /** Milliseconds until so many more requests of a kind have been let through. */
  outlook: (limit: string, requests: number) => number
}

const BUSY_MS = 2_000
const BUSY_TRIES = 6
const LONGEST_BUSY_MS = 120_000
/** Pauses before a request that got lost is sent again; every request of the engine may be sent twice. */
const LOST_MS = [500, 2_000]

/** Does requests when the server's limits allow them; others go on while one kind waits. */
export function makePace({ limits, calls, clock, sleep, signal, onWait, onRequest, keep }: PaceParts): Paced {
  let count = 0
  /** Whether the server ever answered: one that is not there is not worth a second try. */
  let reached = false

  async function wait(limit: string, ms: number): Promise<void> {
    if (ms >= 1_000) onWait?.(limit, ms)
    await sleep(ms, signal)
  }
  const turns = makeTurns({ limits, calls, clock, signal, keep, wait })

  const pace: Pace = async (action, request) => {
    const { limit } = action
    for (let busy = 0, lost = 0; ;) {
      const at = limit === 'none' ? undefined : await turns.take(limit)
      count += 1
      onRequest?.(limit)
      try {
        const answer = await request()
        reached = true
        turns.answered(limit)
        return answer
      } catch (error) {
        signal?.throwIfAborted()
        reached ||= isFault(error)
        if (isFault(error, 'rate_limited')) {
          const ms = turns.pause(limit, at, error.extra.retryAfter)
          if (ms === undefined) throw error
          if (at === undefined) await wait(limit, ms)
        } else if (isFault(error, 'busy') && busy < BUSY_TRIES) {
          busy += 1
          const { retryAfter = BUSY_MS / 1_000 } = error.extra
          await wait(limit, Math.min(retryAfter * 1_000, LONGEST_BUSY_MS))
        } else if (isLost(error) && reached && lost < LOST_MS.length) await wait(limit, LOST_MS[lost++]!)
        else throw error
      }
    }
  }
  return { pace, count: () => count, outlook: turns.outlook }
}

/** Whether a request may have got lost on the way; a whole answer of somebody else is an answer. */
const isLost = (error: unknown): boolean =>
  error instanceof Unreachable && (error.status === undefined || error.status >= 500)

/** The real thing. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
