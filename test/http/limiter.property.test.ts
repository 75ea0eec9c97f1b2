import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeLimiter } from '../../src/http/limiter.ts'
import { makeClock } from '../support/clock.ts'

const WINDOW = 60_000

/** Pauses between requests: bursts, seconds, and the moments around the end of a window. */
const pause = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 0, 1) },
  { weight: 3, arbitrary: fc.nat({ max: 5_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(WINDOW - 1, WINDOW, WINDOW + 1) },
  { weight: 1, arbitrary: fc.nat({ max: 3 * WINDOW }) },
)

const requests = fc.array(fc.record({ pause, key: fc.constantFrom('a', 'b') }), { minLength: 1, maxLength: 200 })

test('in any minute exactly as many requests pass as may: never one more, and never one too few', () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 12 }), (sequence, max) => {
      const clock = makeClock(1_000_000)
      const limiter = makeLimiter(clock)
      const passed = new Map<string, number[]>([
        ['a', []],
        ['b', []],
      ])
      for (const { pause: wait, key } of sequence) {
        clock.pass(wait)
        const now = clock.now()
        const recent = passed.get(key)!.filter((time) => time > now - WINDOW)
        const verdict = limiter.acquire({ key, max })
        const passes = recent.length < max
        expect(verdict.retryAfter === 0).toBe(passes)
        if (passes) passed.get(key)!.push(now)
        const inWindow = passes ? recent.length + 1 : recent.length
        expect([verdict.limit, verdict.remaining]).toEqual([max, max - inWindow])
      }
      for (const times of passed.values()) {
        for (const [index, time] of times.entries()) {
          // The request `max` places later lies outside of the window that this one begins.
          const later = times[index + max]
          if (later !== undefined) expect(later - time).toBeGreaterThanOrEqual(WINDOW)
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('whoever waits as long as told passes, and whoever waits a second less may not', () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 8 }), (sequence, max) => {
      const clock = makeClock(1_000_000)
      const limiter = makeLimiter(clock)
      for (const { pause: wait, key } of sequence) {
        clock.pass(wait)
        const { retryAfter, reset } = limiter.acquire({ key, max })
        expect(reset).toBeGreaterThanOrEqual(1)
        expect(reset).toBeLessThanOrEqual(60)
        if (retryAfter === 0) continue
        expect(retryAfter).toBe(reset)
        clock.pass((retryAfter - 1) * 1_000)
        if (retryAfter > 1) expect(limiter.acquire({ key, max }).retryAfter).toBe(1)
        clock.pass(1_000)
        expect(limiter.acquire({ key, max }).retryAfter).toBe(0)
      }
    }),
    { numRuns: 200 },
  )
})

test('a limit that is changed holds at once, for what has passed too', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ pause, max: fc.integer({ min: 1, max: 6 }) }), { maxLength: 120 }), (sequence) => {
      const clock = makeClock(1_000_000)
      const limiter = makeLimiter(clock)
      const passed: number[] = []
      for (const { pause: wait, max } of sequence) {
        clock.pass(wait)
        const now = clock.now()
        const recent = passed.filter((time) => time > now - WINDOW)
        const { retryAfter, remaining } = limiter.acquire({ key: 'a', max })
        expect(retryAfter === 0).toBe(recent.length < max)
        if (retryAfter === 0) passed.push(now)
        else {
          expect(remaining).toBe(0)
          // Room comes when all but `max` - 1 of them lie outside of the window.
          const blocking = recent[recent.length - max]!
          expect(retryAfter).toBe(Math.ceil((blocking + WINDOW - now) / 1_000))
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('a request that costs more counts as so many, and tells how many more like it may pass', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(pause, fc.integer({ min: 1, max: 5 })), { maxLength: 100 }), (sequence) => {
      const clock = makeClock(1_000_000)
      const limiter = makeLimiter(clock)
      const max = 12
      const passed: { at: number; cost: number }[] = []
      for (const [wait, cost] of sequence) {
        clock.pass(wait)
        const now = clock.now()
        const spent = passed.reduce((sum, one) => sum + (one.at > now - WINDOW ? one.cost : 0), 0)
        const verdict = limiter.acquire({ key: 'a', max, cost })
        const passes = spent + cost <= max
        expect(verdict.retryAfter === 0).toBe(passes)
        if (passes) passed.push({ at: now, cost })
        const left = max - spent - (passes ? cost : 0)
        expect([verdict.limit, verdict.remaining]).toEqual([Math.floor(max / cost), Math.floor(left / cost)])
        if (passes) continue
        // Whoever waits as long as told passes.
        clock.pass(verdict.retryAfter * 1_000)
        expect(limiter.acquire({ key: 'a', max, cost }).retryAfter).toBe(0)
        passed.push({ at: clock.now(), cost })
      }
    }),
    { numRuns: 200 },
  )
})

test('a clock that is set back keeps nobody waiting longer than a minute', () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 1e9 }), (sequence, max, back) => {
      const clock = makeClock(2_000_000_000)
      const limiter = makeLimiter(clock)
      for (const { pause: wait, key } of sequence) {
        clock.pass(wait)
        limiter.acquire({ key, max })
      }
      clock.pass(-back)
      const told = ['a', 'b'].map((key) => limiter.acquire({ key, max }).reset)
      expect(Math.max(...told)).toBeLessThanOrEqual(WINDOW / 1_000)
      clock.pass(WINDOW)
      for (const key of ['a', 'b'])
        for (let one = 0; one < max; one += 1) expect(limiter.acquire({ key, max }).retryAfter).toBe(0)
    }),
    { numRuns: 200 },
  )
})
