import { expect, test } from 'vitest'
import { makeConnectivity } from '../../../src/client/http/connectivity.ts'
import { fault } from '../../../src/contract/errors.ts'
import { Unreachable } from '../../../src/client/errors.ts'

function atSea(random = 0) {
  const said: string[] = []
  const slept: number[] = []
  const controller = new AbortController()
  const connectivity = makeConnectivity({
    random: () => random,
    signal: controller.signal,
    sleep: (ms) => {
      slept.push(ms)
      return Promise.resolve()
    },
    lost: ({ message }) => void said.push(message),
    back: () => void said.push('back'),
  })
  return { connectivity, said, slept, controller }
}

test('pauses grow up to half a minute, shortened at random, and are said once', async () => {
  const { connectivity, said, slept } = atSea()
  for (let attempt = 0; attempt < 8; attempt += 1) await connectivity.backOff(new Unreachable('gone'))
  expect(slept).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  connectivity.attempt()()
  connectivity.attempt()()
  expect(said).toEqual(['gone', 'back'])
  const other = atSea(1)
  await other.connectivity.backOff(new Unreachable('gone'))
  expect(other.slept).toEqual([500])
})

test('under maintenance it is looked often, whatever time the server names', async () => {
  const { connectivity, slept } = atSea()
  for (let attempt = 0; attempt < 3; attempt += 1) await connectivity.backOff(fault('maintenance', { retryAfter: 300 }))
  await connectivity.backOff(fault('maintenance', { retryAfter: 2 }))
  expect(slept).toEqual([5_000, 5_000, 5_000, 5_000])
  const other = atSea()
  await other.connectivity.backOff(fault('maintenance', { retryAfter: 2 }))
  await other.connectivity.backOff(fault('rate_limited', { retryAfter: 20 }))
  expect(other.slept).toEqual([2_000, 20_000])
})

test('each reason of an outage is said once, and again in the next', async () => {
  const { connectivity, said } = atSea()
  const portal = new Unreachable('a page')
  for (const error of [new Unreachable('gone'), portal, new Unreachable('gone'), portal])
    await connectivity.backOff(error)
  for (const text of ['(request a)', '(request b)']) await connectivity.backOff(fault('internal', { text }))
  connectivity.attempt()()
  await connectivity.backOff(portal)
  expect(said).toEqual(['gone', 'a page', '(request a)', 'back', 'a page'])
})

test('an answer to what was asked before the server went away does not bring it back', async () => {
  const { connectivity, said } = atSea()
  const early = connectivity.attempt()
  await connectivity.backOff(new Unreachable('gone'))
  early()
  expect(said).toEqual(['gone'])
  connectivity.attempt()()
  expect(said).toEqual(['gone', 'back'])
})

test('a pause ends at once when watching does', async () => {
  const { connectivity, controller } = atSea()
  controller.abort(new Error('ended'))
  await expect(connectivity.backOff(new Unreachable('gone'))).rejects.toThrow('ended')
})
