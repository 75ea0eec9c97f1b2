import type { Clock } from '../base/clock.ts'
import { LIMIT_WINDOW } from '../contract/limits.ts'

/** The limit that leaves the fewest requests. `retryAfter` is in whole seconds, 0 when the request may pass. */
export interface RateLimitStatus {
  limit: number
  remaining: number
  /** Whole seconds until the window has room for one more request. */
  reset: number
  retryAfter: number
}

/** A limit on requests of one kind. */
export interface Quota {
  key: string
  max: number
  /** Units of the request, 1 by default. More than `max` passes when the window is empty. */
  cost?: number
}

const WINDOW_MS = LIMIT_WINDOW * 1_000
const SWEEP_EVERY = 10_000

/** Exact sliding-window rate limiter: at most `max` requests within any 60 seconds. Refused requests do not count. */
export function makeLimiter(clock: Clock) {
  /** Times of accepted requests in epoch ms, oldest first. */
  const passed = new Map<string, number[]>()
  let calls = 0

  function sweep(now: number): void {
    for (const [key, times] of passed) if ((times.at(-1) ?? 0) <= now - WINDOW_MS) passed.delete(key)
  }

  /** Times inside the window. */
  function timesOf(key: string, now: number): number[] {
    let times = passed.get(key)
    if (!times) passed.set(key, (times = []))
    // The clock was set back. Future times become now, so that nobody waits longer than one window.
    if (times.at(-1)! > now)
      times.fill(
        now,
        times.findIndex((time) => time > now),
      )
    const firstInWindow = times.findIndex((time) => time > now - WINDOW_MS)
    times.splice(0, firstInWindow < 0 ? times.length : firstInWindow)
    return times
  }

  return {
    /** Counts against all limits, or none if one is exhausted. Returns the state of the tightest one. */
    acquire(...quotas: [Quota, ...Quota[]]): RateLimitStatus {
      const now = clock.now()
      if (++calls % SWEEP_EVERY === 0) sweep(now)
      const windows = quotas.map(({ key, max, cost = 1 }) => ({
        max,
        cost: Math.min(cost, max),
        times: timesOf(key, now),
      }))
      const isFull = windows.some(({ max, cost, times }) => times.length + cost > max)
      if (!isFull) for (const { cost, times } of windows) for (let unit = 0; unit < cost; unit += 1) times.push(now)
      const statuses = windows.map(({ max, cost, times }): RateLimitStatus => {
        // After a limit was lowered, the window may hold more than `max`: there is room once all but `max - cost` have
        // left it.
        const over = times.length - Math.max(0, max - cost)
        const lastToExpire = times[Math.min(times.length, Math.max(1, over)) - 1] ?? now
        const reset = Math.max(1, Math.ceil((lastToExpire + WINDOW_MS - now) / 1_000))
        const isUsedUp = isFull && times.length + cost > max
        const remaining = Math.max(0, Math.floor((max - times.length) / cost))
        return { limit: Math.floor(max / cost), remaining, reset, retryAfter: isUsedUp ? reset : 0 }
      })
      return statuses.reduce((least, one) =>
        one.retryAfter > least.retryAfter || (!isFull && one.remaining < least.remaining) ? one : least,
      )
    },
  }
}

export type Limiter = ReturnType<typeof makeLimiter>
