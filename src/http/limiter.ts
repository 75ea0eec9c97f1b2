import type { Clock } from '../base/clock.ts'
import { LIMIT_WINDOW } from '../contract/limits.ts'

/** What a limited request is told about its limit; `retryAfter` (whole seconds) is 0 when it may pass. */
export interface Verdict {
  limit: number
  remaining: number
  /** Whole seconds until the window has room for one more. */
  reset: number
  retryAfter: number
}

const WINDOW_MS = LIMIT_WINDOW * 1_000
const SWEEP_EVERY = 10_000

/** Counts requests in an exact sliding window: of any 60 seconds, at most `max` pass. Refused ones do not count. */
export function makeLimiter(clock: Clock) {
  /** Times of the requests that passed, oldest first. */
  const passed = new Map<string, number[]>()
  let calls = 0

  function sweep(now: number): void {
    for (const [key, times] of passed) if (times.at(-1)! <= now - WINDOW_MS) passed.delete(key)
  }

  return {
    take(key: string, max: number): Verdict {
      const now = clock.now()
      if (++calls % SWEEP_EVERY === 0) sweep(now)
      let times = passed.get(key)
      if (!times) passed.set(key, (times = []))
      const gone = times.findIndex((time) => time > now - WINDOW_MS)
      times.splice(0, gone < 0 ? times.length : gone)

      const full = times.length >= max
      if (!full) times.push(now)
      // With a lowered limit more may have passed than now may: room comes when all but `max - 1` are over.
      const blocking = times[Math.max(0, times.length - max)]!
      const reset = Math.max(1, Math.ceil((blocking + WINDOW_MS - now) / 1_000))
      return { limit: max, remaining: Math.max(0, max - times.length), reset, retryAfter: full ? reset : 0 }
    },
  }
}

export type Limiter = ReturnType<typeof makeLimiter>
