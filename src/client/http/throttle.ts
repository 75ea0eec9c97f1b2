import type { Clock } from '../../base/clock.ts'
import type { AnyAction } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'
import { makeRateLimiter, type Calls, type Limits } from './rate-limiter.ts'
import type { Sleep } from './sleep.ts'

/** Sends one request when the rate limits allow it, and retries it when it was rate limited or lost. */
export type Throttle = <T>(action: Pick<AnyAction, 'limit'>, request: () => Promise<T>) => Promise<T>

export interface ThrottleOptions {
  limits: () => Limits
  /** Requests of earlier runs: the server's window outlives a process. */
  calls: Calls
  clock: Clock
  sleep: Sleep
  signal?: AbortSignal | undefined
  /** Called for waits of a second or more. */
  onWait?: (limit: string, ms: number) => void
  /** Called for each request sent. */
  onRequest?: (limit: string) => void
  /** Stores `calls`, now and then: a run that is killed must not make the next one forget. */
  keep?: (() => void) | undefined
}

/** A throttle with its counters. */
export interface Throttled {
  throttle: Throttle
  /** Requests so far. */
  count: () => number
  /** Milliseconds until so many more requests of a limit are granted. */
  estimateWait: (limit: string, requests: number) => number
}

const BUSY_MS = 2_000
const BUSY_TRIES = 6
const LONGEST_BUSY_MS = 120_000
/** Pauses before a request that got lost is sent again; every request of the engine may be sent twice. */
const LOST_MS = [500, 2_000]

/** Throttles requests by the server's rate limits; limits do not block each other. */
export function makeThrottle({
  limits,
  calls,
  clock,
  sleep,
  signal,
  onWait,
  onRequest,
  keep,
}: ThrottleOptions): Throttled {
  let count = 0
  /** Whether the server ever answered: one that is not there is not worth a second try. */
  let reached = false

  async function wait(limit: string, ms: number): Promise<void> {
    if (ms >= 1_000) onWait?.(limit, ms)
    await sleep(ms, signal)
  }
  const limiter = makeRateLimiter({ limits, calls, clock, signal, keep, wait })

  const throttle: Throttle = async (action, request) => {
    const { limit } = action
    for (let busy = 0, lost = 0; ;) {
      const at = limit === 'none' ? undefined : await limiter.acquire(limit)
      count += 1
      onRequest?.(limit)
      try {
        const answer = await request()
        reached = true
        limiter.answered(limit)
        return answer
      } catch (error) {
        signal?.throwIfAborted()
        reached ||= isFault(error)
        if (isFault(error, 'rate_limited')) {
          const ms = limiter.pause(limit, at, error.extra.retryAfter)
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
  return { throttle, count: () => count, estimateWait: limiter.estimateWait }
}

/** Whether a request may have got lost on the way; a whole answer of somebody else is an answer. */
const isLost = (error: unknown): boolean =>
  error instanceof Unreachable && (error.status === undefined || error.status >= 500)
