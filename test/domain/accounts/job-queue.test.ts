import { expect, test } from 'vitest'
import { fault } from '../../../src/contract/errors.ts'
import { makeQueue, makeQueuePerKey } from '../../../src/domain/accounts/job-queue.ts'
import { outcome } from './world.ts'

/** Jobs that end when they are told to. */
function makeJobs() {
  const started: number[] = []
  const ends = new Map<number, (failure?: Error) => void>()
  const job = (number: number) => () =>
    new Promise<number>((resolve, reject) => {
      started.push(number)
      ends.set(number, (failure) => (failure ? reject(failure) : resolve(number)))
    })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return { started, job, end: (number: number, failure?: Error) => (ends.get(number)!(failure), turn()) }
}

const options = { atOnce: 2, waiting: 2, full: () => fault('busy') }

test('jobs run two at a time in the order they came, and what finds no place is refused', async () => {
  const { started, job, end } = makeJobs()
  const queue = makeQueue(options)
  const [one, two, three, four] = [1, 2, 3, 4].map((number) => queue(job(number)))
  expect(await outcome(queue(job(5)))).toBe('busy')
  expect(started).toEqual([1, 2])
  await end(2)
  expect(started).toEqual([1, 2, 3])
  const six = queue(job(6))
  expect(await outcome(queue(job(7)))).toBe('busy')
  await end(1)
  await end(3)
  expect(started).toEqual([1, 2, 3, 4, 6])
  await end(6)
  await end(4)
  expect(await Promise.all([one, two, three, four, six])).toEqual([1, 2, 3, 4, 6])
  const eight = queue(job(8))
  expect(started.at(-1)).toBe(8)
  await end(8)
  expect(await eight).toBe(8)
})

test('a job that fails gives its place on', async () => {
  const { started, job, end } = makeJobs()
  const queue = makeQueue({ ...options, atOnce: 1 })
  const failing = queue(job(1)).catch((error: unknown) => String(error))
  const next = queue(job(2))
  await end(1, new Error('broken'))
  expect(await failing).toBe('Error: broken')
  expect(started).toEqual([1, 2])
  await end(2)
  expect(await next).toBe(2)
})

test('each key has a line of its own', async () => {
  const { started, job, end } = makeJobs()
  const queue = makeQueuePerKey({ ...options, atOnce: 1 })
  const jobs = [queue('a', job(1)), queue('a', job(2)), queue('a', job(3)), queue('b', job(4))]
  expect(await outcome(queue('a', job(5)))).toBe('busy')
  expect(started).toEqual([1, 4])
  await end(1)
  expect(started).toEqual([1, 4, 2])
  await end(2)
  await end(3)
  await end(4)
  expect(await Promise.all(jobs)).toEqual([1, 2, 3, 4])
  const again = queue('a', job(6))
  expect(started.at(-1)).toBe(6)
  await end(6)
  expect(await again).toBe(6)
})
