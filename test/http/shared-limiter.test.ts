import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeLimiter, type Limiter } from '../../src/http/limiter.ts'
import { makeLateness, sharedLimiter } from '../../src/http/shared-limiter.ts'
import { makeClock } from '../support/clock.ts'

const WINDOW = 60_000
/** Counts of others are kept by tenths of a second. */
const SLOT = 100

/** Limiters that tell each other at once, or when `deliver` is called. */
function limitersOf(clocks: ReturnType<typeof makeClock>[]) {
  const due = new Set<number>()
  const limiters = clocks.map((clock, index) =>
    makeLimiter(clock, { nameOf: (key) => key, onDue: () => void due.add(index) }),
  )
  function deliver(): void {
    for (const index of due) {
      due.delete(index)
      const counts = limiters[index]!.takeUntold(1_000)
      for (const other of limiters) if (other !== limiters[index]) other.add(counts)
    }
  }
  return { limiters, deliver }
}

const steps = fc.array(
  fc.record({
    pause: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(0, 1, 20) },
      { weight: 2, arbitrary: fc.nat({ max: 2_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(WINDOW - SLOT, WINDOW, WINDOW + SLOT) },
    ),
    server: fc.nat({ max: 15 }),
    times: fc.integer({ min: 1, max: 60 }),
    cost: fc.constantFrom(1, 1, 1, 2, 5),
  }),
  { minLength: 1, maxLength: 60 },
)

test('servers that tell each other at once let pass no more than one would, and no less', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 16 }), fc.integer({ min: 5, max: 400 }), (sequence, count, max) => {
      // Their clocks have nothing to do with each other.
      const clocks = Array.from({ length: count }, (_, index) => makeClock(1e12 + index * 7_777_777))
      const { limiters, deliver } = limitersOf(clocks)
      const passed: { at: number; cost: number }[] = []
      let now = 0
      for (const { pause, server, times, cost } of sequence) {
        now += pause
        for (const clock of clocks) clock.pass(pause)
        for (let time = 0; time < times; time += 1) {
          const within = (ms: number) => passed.reduce((sum, one) => sum + (one.at > now - ms ? one.cost : 0), 0)
          const { retryAfter } = limiters[server % count]!.acquire({ key: 'a', max, cost })
          deliver()
          if (retryAfter === 0) {
            expect(within(WINDOW - SLOT) + cost).toBeLessThanOrEqual(max)
            passed.push({ at: now, cost })
          } else expect(within(WINDOW) + cost).toBeGreaterThan(max)
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('a key far from its limit is not mentioned, and one close to it each time', () => {
  const clock = makeClock()
  let told = 0
  const limiter = makeLimiter(clock, { nameOf: (key) => key, onDue: () => (told += 1) })
  for (let address = 0; address < 100_000; address += 1) limiter.acquire({ key: `address ${address}`, max: 300 })
  expect([told, limiter.takeUntold(10)]).toEqual([0, []])
  for (let time = 1; time < 18; time += 1) limiter.acquire({ key: 'address 1', max: 300 })
  expect(limiter.takeUntold(10)).toEqual([{ key: 'address 1', units: 18, age: 0 }])
  for (let time = 18; time < 290; time += 1) limiter.acquire({ key: 'address 1', max: 300 })
  limiter.takeUntold(10)
  clock.pass(1_234)
  limiter.acquire({ key: 'address 1', max: 300 })
  clock.pass(1)
  expect(limiter.takeUntold(10)).toEqual([{ key: 'address 1', units: 1, age: 1 }])
})

test('counts expire where they were told, also those of servers that are gone', () => {
  const clock = makeClock()
  const limiter = makeLimiter(clock, { nameOf: (key) => key, onDue: () => undefined })
  limiter.add([{ key: 'a', units: 10, age: 20_000 }])
  expect(limiter.acquire({ key: 'a', max: 10 })).toMatchObject({ remaining: 0, retryAfter: 40 })
  clock.pass(40_000)
  expect(limiter.acquire({ key: 'a', max: 10 })).toMatchObject({ remaining: 9, retryAfter: 0 })
  // What is older than a minute does not count.
  limiter.add([{ key: 'a', units: 10, age: WINDOW }])
  expect(limiter.acquire({ key: 'a', max: 10 })).toMatchObject({ remaining: 8 })
})

test('a flood of keys takes bounded memory and messages', () => {
  const clock = makeClock()
  const limiter = makeLimiter(clock, { nameOf: (key) => key, onDue: () => undefined })
  const keys = Array.from({ length: 150_000 }, (_, index) => `k${index}`)
  limiter.add(keys.map((key) => ({ key, units: 5, age: 0 })))
  expect(limiter.acquire({ key: 'k5', max: 10 }).remaining).toBe(4)
  // The first 100,000 are known; of later ones only what this server accepts.
  expect(limiter.acquire({ key: 'k140000', max: 10 }).remaining).toBe(9)
  for (const key of keys) limiter.acquire({ key, max: 10 })
  let told = 0
  for (let part = limiter.takeUntold(300); part.length > 0; part = limiter.takeUntold(300)) told += part.length
  expect(told).toBe(20_000)
  expect(limiter.hasDue()).toBe(false)
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** A channel that any number of servers can be connected to. */
function channelOfTest(maxBytes = 7_900) {
  const listeners: { name: string; hear: (from: string, message: string) => void }[] = []
  const sent: string[] = []
  const say = (from: string, message: string) => {
    for (const { name, hear } of listeners) if (name !== from) hear(from, message)
  }
  const join = (name: string, isAway = () => false) => ({
    maxBytes,
    send(message: string) {
      if (isAway()) return Promise.reject(new Error('away'))
      sent.push(message)
      say(name, message)
      return Promise.resolve()
    },
    listen: (hear: (from: string, message: string) => void) => void listeners.push({ name, hear }),
  })
  return { join, say, sent }
}

const timesPassed = (limiter: Limiter, max: number, key = 'a') => {
  let passed = 0
  while (limiter.acquire({ key, max }).retryAfter === 0) passed += 1
  return passed
}

test('messages are small, rare and hold no names', async () => {
  const { join, sent } = channelOfTest()
  const clock = makeClock()
  const [one, two] = [sharedLimiter(clock, join('one')), sharedLimiter(clock, join('two'))]
  for (const each of [one, two]) each.acquire({ key: 'begin', max: 300 })
  for (let address = 0; address < 1_000; address += 1) one.acquire({ key: `address 10.0.0.${address}`, max: 1 })
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(50)
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sent).toHaveLength(4)
  for (const message of sent) {
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(7_900)
    expect(message).not.toContain('10.0')
  }
  expect(two.acquire({ key: 'address 10.0.0.999', max: 1 }).retryAfter).toBe(60)
  // A channel for less gets less at a time.
  const narrow = channelOfTest(200)
  const third = sharedLimiter(clock, narrow.join('three'))
  for (let address = 0; address < 20; address += 1) third.acquire({ key: `address ${address}`, max: 1 })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(narrow.sent.length).toBeGreaterThan(2)
  for (const message of narrow.sent) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(200)
})

test('without the channel each counts alone, and afterwards together again', async () => {
  const { join } = channelOfTest()
  const clock = makeClock()
  let isAway = true
  const [one, two] = [
    sharedLimiter(
      clock,
      join('one', () => isAway),
    ),
    sharedLimiter(clock, join('two')),
  ]
  expect(two.acquire({ key: 'begin', max: 300 }).retryAfter).toBe(0)
  expect(timesPassed(one, 20)).toBe(20)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(timesPassed(two, 20)).toBe(20)
  clock.pass(WINDOW)
  isAway = false
  expect(timesPassed(one, 20)).toBe(20)
  await vi.advanceTimersByTimeAsync(50)
  expect(timesPassed(two, 20)).toBe(0)
})

test('messages that are none count nothing', async () => {
  const { join, say, sent } = channelOfTest()
  const clock = makeClock()
  const [one, two] = [sharedLimiter(clock, join('one')), sharedLimiter(clock, join('two'))]
  for (const each of [one, two]) each.acquire({ key: 'begin', max: 300 })
  one.acquire({ key: 'a', max: 1 })
  await vi.advanceTimersByTimeAsync(50)
  const name = sent[0]!.split(' ')[1]!.split('.')[0]!
  clock.pass(WINDOW)
  const bad = ['', '1', '1..', '-1.1', '1.-1', 'NaN.0', '1.1.1', '1+1.0', '1. 0', '1.zzzzzzz', 'zzzzzzz.0', '%.1']
  for (const text of bad) say('three', `1 ${name}.${text}`)
  for (const text of [
    name,
    `${name}.5.0`,
    ` ${name}.5.0`,
    `x-y ${name}.5.0`,
    `zzzzzzzzz ${name}.5.0`,
    '\0',
    '🎉'.repeat(900),
  ])
    say('three', text)
  expect(two.acquire({ key: 'a', max: 1 })).toMatchObject({ remaining: 0, retryAfter: 0 })
})

test('messages that waited for this process are not of now', () => {
  const lateness = makeLateness()
  const arrives = (from: string, sentAt: number, now: number) => Math.round(lateness(from, sentAt, now))
  expect([arrives('a', 1_000, 500_000), arrives('a', 2_000, 501_003), arrives('b', 77, 501_003)]).toEqual([0, 2, 0])
  // Half a minute that the process stood still: messages of that time arrive at once.
  const waited = [3_000, 13_000, 32_000].map((sentAt) => Math.round(arrives('a', sentAt, 532_000) / 1_000))
  expect(waited).toEqual([30, 20, 1])
  // Clocks that drift apart are not lateness.
  let worst = 0
  for (let second = 0; second < 86_400; second += 10)
    worst = Math.max(worst, lateness('c', second * 1_000, second * 1_000.2))
  expect(worst).toBeLessThan(10)
  // A crowd of names is forgotten.
  for (let index = 0; index < 1_000; index += 1) lateness(`sender ${index}`, 0, 0)
  expect(lateness('c', 0, 9e9)).toBe(0)
})
