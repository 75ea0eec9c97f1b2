import type { Clock } from '../../src/base/clock.ts'

/** A clock that changes only when it is set. */
export interface TestClock extends Clock {
  pass(ms: number): void
}

export function makeClock(start = Date.UTC(2026, 10, 21, 12)): TestClock {
  let now = start
  return { now: () => now, pass: (ms) => void (now += ms) }
}
