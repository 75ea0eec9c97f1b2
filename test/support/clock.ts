import type { Clock } from '../../src/base/clock.ts'

/** A clock that stands still until it is told otherwise. */
export interface TestClock extends Clock {
  pass(ms: number): void
}

export function makeClock(start = Date.UTC(2026, 10, 21, 12)): TestClock {
  let now = start
  return { now: () => now, pass: (ms) => void (now += ms) }
}
