/** Where "now" comes from; handed to everything that reckons with time, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** ISO 8601 UTC with milliseconds: `2026-11-21T03:04:05.678Z`. */
export const iso = (ms: number): string => new Date(ms).toISOString()

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
