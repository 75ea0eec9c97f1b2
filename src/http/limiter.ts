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

/** So many requests of one kind at most. */
export interface Bound {
  key: string
  max: number
  /** As how many a request counts; one passes whatever it costs. */
  cost?: number
}

const WINDOW_MS = LIMIT_WINDOW * 1_000
const SWEEP_EVERY = 10_000

/** Counts requests in an exact sliding window: of any 60 seconds, at most `max` pass. Refused ones do not count. */
export function makeLimiter(clock: Clock) {
  /** Times of the requests that passed, oldest first. */
  const passed = new Map<string, number[]>()
  let calls = 0

  function sweep(now: number): void {
    for (const [key, times] of passed) if ((times.at(-1) ?? 0) <= now - WINDOW_MS) passed.delete(key)
  }

  /** The times that still count. */
  function timesOf(key: string, now: number): number[] {
    let times = passed.get(key)
    if (!times) passed.set(key, (times = []))
    // The clock was set back: what passed counts as of now, so that nobody waits longer than the window.
    if (times.at(-1)! > now)
      times.fill(
        now,
        times.findIndex((time) => time > now),
      )
    const gone = times.findIndex((time) => time > now - WINDOW_MS)
    times.splice(0, gone < 0 ? times.length : gone)
    return times
  }

  return {
    /** Takes one of each of these, or of none when one of them is used up. Tells of the one that leaves least. */
    take(...bounds: [Bound, ...Bound[]]): Verdict {
      const now = clock.now()
      if (++calls % SWEEP_EVERY === 0) sweep(now)
      const windows = bounds.map(({ key, max, cost = 1 }) => ({
        max,
        cost: Math.min(cost, max),
        times: timesOf(key, now),
      }))
      const isFull = windows.some(({ max, cost, times }) => times.length + cost > max)
      if (!isFull) for (const { cost, times } of windows) for (let unit = 0; unit < cost; unit += 1) times.push(now)
      const verdicts = windows.map(({ max, cost, times }): Verdict => {
        // With a lowered limit more may have passed than now may: room comes when all but `max - cost` are over.
        const over = times.length - Math.max(0, max - cost)
        const blocking = times[Math.min(times.length, Math.max(1, over)) - 1] ?? now
        const reset = Math.max(1, Math.ceil((blocking + WINDOW_MS - now) / 1_000))
        const isUsedUp = isFull && times.length + cost > max
        const remaining = Math.max(0, Math.floor((max - times.length) / cost))
        return { limit: Math.floor(max / cost), remaining, reset, retryAfter: isUsedUp ? reset : 0 }
      })
      return verdicts.reduce((least, one) =>
        one.retryAfter > least.retryAfter || (!isFull && one.remaining < least.remaining) ? one : least,
      )
    },
  }
}

export type Limiter = ReturnType<typeof makeLimiter>
