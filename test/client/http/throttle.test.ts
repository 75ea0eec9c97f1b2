import { expect, test } from 'vitest'
import { fault, type FaultExtra } from '../../../src/contract/errors.ts'
import { makeThrottle } from '../../../src/client/http/throttle.ts'
import type { Calls, Limits } from '../../../src/client/http/rate-limiter.ts'
import { Unreachable } from '../../../src/client/errors.ts'

const START = 1_000_000

function setUp(limits: Limits = {}, calls: Calls = {}) {
  /** During the first sleep the clock is set back by `jump`. */
  const time = { now: START, back: 0, jump: 0 }
  const slept: number[] = []
  const kept: number[] = []
  const throttled = makeThrottle({
    limits: () => limits,
    calls,
    clock: { now: () => time.now - time.back, monotonic: () => time.now },
    sleep: (ms) => {
      slept.push(ms)
      time.now += ms
      ;[time.back, time.jump] = [time.back + time.jump, 0]
      return Promise.resolve()
    },
    keep: () => void kept.push(time.now),
  })
  return { ...throttled, time, slept, kept, calls }
}

const upload = { limit: 'sync_upload' as const }

/** Fails a number of times before it succeeds. */
function failing(times: number, error: () => unknown) {
  let left = times
  return () => ((left -= 1) >= 0 ? Promise.reject(error() as Error) : Promise.resolve('done'))
}

const refused = (extra: FaultExtra = {}) => fault('rate_limited', extra)

test('a window is filled and no more, and its next place is waited for', async () => {
  const { throttle, slept, time } = setUp({ sync_upload: { max: 3, per: 60 } })
  const at: number[] = []
  for (let count = 0; count < 7; count += 1) {
    await throttle(upload, () => Promise.resolve(at.push(time.now - START)))
    time.now += 1_000
  }
  expect(at).toEqual([0, 1_000, 2_000, 60_150, 61_150, 62_150, 120_300])
  expect(slept).toEqual([57_150, 57_150])
})

test('requests of the run before count, those from a clock that went wrong do not', async () => {
  const before = setUp({ sync_upload: { max: 2, per: 60 } }, { sync_upload: [START - 59_000, START - 10] })
  await before.throttle(upload, () => Promise.resolve())
  expect(before.slept).toEqual([1_150])
  const wrong = setUp({ sync_upload: { max: 2, per: 60 } }, { sync_upload: [START + 5_000_000, START + 6_000_000] })
  await wrong.throttle(upload, () => Promise.resolve())
  expect(wrong.slept).toEqual([])
})

test('requests are written down before each wait and now and then, for a run that may be killed', async () => {
  const { throttle, kept, calls, time } = setUp({ sync_upload: { max: 2, per: 60 } })
  for (let count = 0; count < 3; count += 1) await throttle(upload, () => Promise.resolve())
  expect(kept).toEqual([START, START + 60_150])
  expect(calls['sync_upload']).toEqual([START + 60_150])
  time.now += 2_000
  await throttle(upload, () => Promise.resolve())
  expect(kept).toHaveLength(3)
})

for (const [what, extra, waits] of [
  ['none', {}, 1_150],
  ['0', { retryAfter: 0 }, 1_150],
  ['17', { retryAfter: 17 }, 17_150],
  ['a day', { retryAfter: 86_400 }, 600_150],
] as const) {
  test(`a refusal with Retry-After ${what} is a pause of that kind of request only`, async () => {
    const { throttle, slept } = setUp()
    const held = throttle(
      upload,
      failing(1, () => refused(extra)),
    )
    await throttle({ limit: 'sync_download' }, () => Promise.resolve())
    expect(await held).toBe('done')
    expect(slept).toEqual([waits])
  })
}

test('a clock that is set back during a pause does not prolong it, and requests are still written down', async () => {
  const { throttle, slept, time, kept } = setUp({ sync_upload: { max: 9, per: 60 } })
  time.jump = 3_600_000
  await throttle(
    upload,
    failing(1, () => refused({ retryAfter: 5 })),
  )
  expect(slept).toEqual([5_150])
  const before = kept.length
  time.now += 2_000
  await throttle(upload, () => Promise.resolve())
  expect(kept).toHaveLength(before + 1)
})

test('a server that refuses again and again is asked ever more rarely, and then given up', async () => {
  const { throttle, slept } = setUp()
  await expect(
    throttle(
      upload,
      failing(Infinity, () => refused({ retryAfter: 0 })),
    ),
  ).rejects.toMatchObject({ code: 'rate_limited' })
  expect(slept.slice(0, 4)).toEqual([1_150, 2_150, 4_150, 8_150])
  expect(slept.every((ms, at) => at === 0 || ms >= slept[at - 1]!)).toBe(true)
  expect(slept).toHaveLength(12)
  expect(slept.at(-1)).toBe(600_150)
})

test('requests that are refused together are one pause', async () => {
  const { throttle, slept } = setUp()
  let begun = 0
  let go = (): void => undefined
  const allBegun = new Promise<void>((resolve) => (go = resolve))
  const request = async (): Promise<void> => {
    begun += 1
    if (begun === 8) go()
    if (begun > 8) return
    await allBegun
    throw refused({ retryAfter: 5 })
  }
  await Promise.all(Array.from({ length: 8 }, () => throttle(upload, request)))
  expect(slept).toEqual([5_150])
})

test('also what has no limit is paused when it is refused', async () => {
  const { throttle, slept } = setUp()
  const request = failing(1, () => refused({ retryAfter: 3 }))
  expect(await throttle({ limit: 'none' }, request)).toBe('done')
  expect(slept).toEqual([3_150])
})

test('a busy server is granted some time, and not a day', async () => {
  const { throttle, slept } = setUp()
  const request = failing(2, () => fault('busy', { retryAfter: 86_400 }))
  expect(await throttle(upload, request)).toBe('done')
  expect(slept).toEqual([120_000, 120_000])
})

test('a request that got lost is sent again; one that somebody else answered is not', async () => {
  const { throttle, slept } = setUp()
  await throttle(upload, () => Promise.resolve())
  const lost = failing(2, () => new Unreachable('gone'))
  expect(await throttle(upload, lost)).toBe('done')
  expect(slept).toEqual([500, 2_000])
  const page = failing(1, () => new Unreachable('a web page', { status: 404 }))
  await expect(throttle(upload, page)).rejects.toThrow('a web page')
})

test('how long so many requests take is what they then take', async () => {
  const limits = { sync_upload: { max: 3, per: 60 } }
  for (const count of [0, 1, 3, 4, 10]) {
    const calls = { sync_upload: [START - 70_000, START - 30_000] }
    const { throttle, estimateWait: outlook, time } = setUp(limits, calls)
    const foretold = outlook('sync_upload', count)
    for (let done = 0; done < count; done += 1) await throttle(upload, () => Promise.resolve())
    expect(time.now - START).toBe(foretold)
  }
  expect(setUp().estimateWait('sync_upload', 1_000_000)).toBe(0)
})
