import type { Clock } from '../../base/clock.ts'
import { makeBackoff } from '../../base/retry.ts'
import type { AnyAction } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'
import { makeRateLimiter, type Calls, type Limits } from './rate-limiter.ts'
import { retryAfterOf } from './request-retry.ts'
import type { Sleep } from '../../base/sleep.ts'

/** Sends a request within the rate limits; retries if it was rate-limited or lost. */
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
  onRequest?: (limit: string) => void
  /** Stores `calls` at intervals, so that a killed run does not lose them. */
  keep?: (() => void) | undefined
}

export interface Throttled {
  throttle: Throttle
  /** Requests so far. */
  count: () => number
  /** Milliseconds until this many more requests of a limit are granted. */
  estimateWait: (limit: string, requests: number) => number
}

const BUSY = { first: 2_000, factor: 1, attempts: 7 }
const LONGEST_BUSY_MS = 120_000
/** Every request of the sync engine is idempotent. */
const LOST = { first: 500, factor: 4, attempts: 3 }

/** Throttles requests by the server's rate limits, each independently. */
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
  /** Whether the server has ever responded: otherwise a retry is not worth it. */
  let reached = false

  async function wait(limit: string, ms: number): Promise<void> {
    if (ms >= 1_000) onWait?.(limit, ms)
    await sleep(ms, signal)
  }
  const limiter = makeRateLimiter({ limits, calls, clock, signal, keep, wait })

  const throttle: Throttle = async (action, request) => {
    const { limit } = action
    const busy = makeBackoff(BUSY)
    const lost = makeBackoff(LOST)
    for (;;) {
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
        let ms: number | undefined
        if (isFault(error, 'rate_limited')) ms = limiter.pause(limit, at, retryAfterOf(error))
        else if (isFault(error, 'busy')) ms = busy.next(Math.min(retryAfterOf(error) ?? 0, LONGEST_BUSY_MS))
        else if (isLost(error) && reached) ms = lost.next()
        if (ms === undefined) throw error
        // The limiter itself waits if there is a limit.
        if (at === undefined || !isFault(error, 'rate_limited')) await wait(limit, ms)
      }
    }
  }
  return { throttle, count: () => count, estimateWait: limiter.estimateWait }
}

/** Whether a request may have been lost; a complete response of another program is a response. */
const isLost = (error: unknown): boolean =>
  error instanceof Unreachable && (error.status === undefined || error.status >= 500)
