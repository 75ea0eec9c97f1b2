import { monotonicMs } from './monotonic.ts'

/** The source of the current time. It is passed in, so that tests can set it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Whole milliseconds of a clock that nobody sets, from any moment on; without it, `now` counts as one. */
  monotonic?(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => Math.floor(monotonicMs()) }

/** The time for delays: a correction of the clock neither lengthens nor shortens them. */
export const monotonicOf = (clock: Clock): number => clock.monotonic?.() ?? clock.now()

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Whether a recorded time is in the future, beyond what clocks of several machines differ: one of two clocks was wrong. */
export const isFuture = (at: number, now: number): boolean => at > now + HOUR

// Times in a list are close together: caching the date of a day makes this several times faster.
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
let lastDay = NaN
let lastDate = ''

/** ISO 8601 UTC with milliseconds: `2026-11-21T03:04:05.678Z`. Throws a RangeError for an invalid time. */
export function iso(ms: number): string {
  const day = Math.floor(ms / DAY)
  if (day !== lastDay) {
    const midnight = new Date(day * DAY).toISOString()
    lastDate = midnight.slice(0, midnight.indexOf('T') + 1)
    lastDay = day
  }
  const within = Math.floor(ms) - day * DAY
  const seconds = Math.floor(within / SECOND)
  const minutes = Math.floor(seconds / 60)
  const time = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`
  return `${lastDate}${time}.${String(within % SECOND).padStart(3, '0')}Z`
}

/** As `iso`, with null for a missing time. */
export const isoOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : iso(ms)
