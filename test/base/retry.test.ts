import { expect, test } from 'vitest'
import { makeBackoff, withRetry, type RetryOptions } from '../../src/base/retry.ts'

class Temporary extends Error {
  readonly retryAfter: number | undefined
  constructor(retryAfter?: number) {
    super('not now')
    this.retryAfter = retryAfter
  }
}

/** Calls something that fails with each of these errors in turn, and then succeeds. */
async function called(errors: readonly Error[], options: Partial<RetryOptions>) {
  const slept: number[] = []
  let calls = 0
  const outcome = await withRetry(
    () => {
      const error = errors[calls]
      calls += 1
      return error ? Promise.reject(error) : Promise.resolve('done')
    },
    {
      first: 100,
      isTemporary: (error) => error instanceof Temporary,
      retryAfterOf: (error) => (error as Temporary).retryAfter,
      sleep: (ms) => Promise.resolve(void slept.push(ms)),
      ...options,
    },
  ).catch((error: unknown) => (error as Error).message)
  return { outcome, calls, slept }
}

const failures = (count: number) => Array.from({ length: count }, () => new Temporary())

test('delays grow up to the longest, and the attempts are counted', async () => {
  expect(await called(failures(4), { longest: 300 })).toEqual({
    outcome: 'done',
    calls: 5,
    slept: [100, 200, 300, 300],
  })
  expect(await called(failures(9), { attempts: 3, factor: 10 })).toEqual({
    outcome: 'not now',
    calls: 3,
    slept: [100, 1_000],
  })
})

test('what the other side asks for is waited in full, and not beyond the time limit', async () => {
  const errors = [new Temporary(450), new Temporary(10), new Temporary(600)]
  expect(await called(errors, { timeLimit: 1_000, jitter: 0.5, random: () => 0 })).toEqual({
    outcome: 'not now',
    calls: 3,
    slept: [450, 200],
  })
})

test('an error that does not pass is thrown at once', async () => {
  expect(await called([new Error('never')], {})).toEqual({ outcome: 'never', calls: 1, slept: [] })
})

test('chance shortens a delay, and lengthens one that was asked for', () => {
  const backoff = makeBackoff({ first: 100, jitter: 0.5, random: () => 1 })
  expect(backoff.next()).toBe(50)
  expect(backoff.next(200)).toBe(300)
  backoff.reset()
  expect(backoff.next()).toBe(50)
})

test('a signal ends the delay with its reason', async () => {
  const stop = new AbortController()
  const call = () => Promise.reject(new Temporary())
  const options = { first: 3_600_000, isTemporary: () => true, signal: stop.signal }
  await expect(withRetry(call, { ...options, onWait: () => stop.abort(new Error('stopped')) })).rejects.toThrow(
    'stopped',
  )
})
