import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeLock } from '../../../src/client/sync/state/root-lock.ts'
import { runSync } from '../../../src/client/sync/sync-run.ts'
import { readStatus } from '../../../src/client/sync/status.ts'
import { waitUntilInSync, type WaitResult } from '../../../src/client/sync/sync-wait.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { makeBench, write, type Bench } from './bench.ts'
import { everything, FakeServer } from './fake-server.ts'

// Waiting for a folder that others bring into step; each pause of the wait is a step of the world.

async function quiet(): Promise<Bench> {
  const server = new FakeServer()
  server.features = { ...everything, files_feed: true }
  const bench = await makeBench({ server })
  write(bench.root, 'a', 'a')
  await bench.sync()
  await bench.sync()
  server.log.length = 0
  return bench
}

/** Waits; `meanwhile` is what happens during each pause, after which the clock is set back. */
async function waiting(
  { root, stateFolder, server, time }: Bench,
  { timeout, meanwhile = [], back = 0 }: { timeout?: number; meanwhile?: (() => unknown)[]; back?: number } = {},
): Promise<WaitResult & { pauses: number[]; told: number }> {
  const clock = { now: () => time.now - back * pauses.length, monotonic: () => time.now }
  const pauses: number[] = []
  let told = 0
  const account = { url: 'http://127.0.0.1:1', username: 'ada', token: 'a'.repeat(64), profile: 'default' }
  const { signal } = new AbortController()
  const sleep = async (ms: number): Promise<void> => {
    await meanwhile[pauses.length]?.()
    pauses.push(ms)
    time.now += ms
  }
  const looking = { path: root, stateFolder, clock }
  const waited = await waitUntilInSync({
    status: () => readStatus(looking),
    plan: (emit) =>
      runSync({ ...looking, api: server.api(), account, dryRun: true, maxDelete: undefined, sleep, signal, emit }),
    timeout,
    clock,
    sleep,
    signal,
    onWait: () => (told += 1),
  })
  return { ...waited, pauses, told }
}

test('what is in step is found so at once, with one request and without a trace', async () => {
  const bench = await quiet()
  const state = readFileSync(join(bench.root, '.svc/state.db'))
  expect(await waiting(bench)).toMatchObject({ in_step: true, waited_ms: 0, pauses: [], told: 0 })
  expect(bench.server.log).toEqual(['delta'])
  expect(readFileSync(join(bench.root, '.svc/state.db'))).toEqual(state)
})

test('it ends as soon as another run has sent what changed here, and asks nobody before that', async () => {
  const bench = await quiet()
  write(bench.root, 'b', 'b')
  const meanwhile = [() => undefined, () => void expect(bench.server.log).toEqual([]), () => bench.sync()]
  expect(await waiting(bench, { meanwhile })).toMatchObject({ in_step: true, pauses: [500, 500, 500], told: 1 })
  expect(bench.server.text('/b')).toBe('b')
})

test('it ends as soon as another run has fetched what changed on the server', async () => {
  const bench = await quiet()
  bench.server.put('/theirs', 'theirs')
  const waited = await waiting(bench, { meanwhile: [() => undefined, () => bench.sync()] })
  expect(waited).toMatchObject({ in_step: true, pauses: [3_000, 3_000] })
  expect(readFileSync(join(bench.root, 'theirs'), 'utf8')).toBe('theirs')
})

test('while a run is at work it waits, without asking and without being in its way', async () => {
  const bench = await quiet()
  const letGo = takeLock(join(bench.root, '.svc/lock'))
  const waited = await waiting(bench, { meanwhile: [() => void expect(bench.server.log).toEqual([]), letGo] })
  expect(waited).toMatchObject({ in_step: true, pauses: [500, 500] })
})

test('when the time has passed it says what was still to be done, and has changed nothing', async () => {
  const bench = await quiet()
  bench.server.put('/theirs', 'theirs')
  expect(await waiting(bench, { timeout: 4_000 })).toMatchObject({ in_step: false, pending: 1, pauses: [3_000, 1_000] })
  expect(bench.server.log).toEqual(['delta', 'delta', 'delta'])
  await bench.sync()
})

test('a clock that is set back does not prolong the wait', async () => {
  const bench = await quiet()
  bench.server.put('/theirs', 'theirs')
  const waited = await waiting(bench, { timeout: 4_000, back: 3_000 })
  expect(waited).toMatchObject({ in_step: false, waited_ms: 4_000, pauses: [3_000, 1_000] })
})

test('a server that is away ends it', async () => {
  const bench = await quiet()
  bench.server.mischief = () => Promise.reject(new Unreachable('Nobody answers.'))
  await expect(waiting(bench, { timeout: 0 })).rejects.toThrow('Nobody answers.')
})

test('where a run would stop for safety, waiting is in vain', async () => {
  const bench = await quiet()
  for (let at = 0; at < 40; at += 1) write(bench.root, `many/${at}`, String(at))
  await bench.sync()
  bench.server.remove('/many')
  const waited = await waiting(bench)
  expect(waited).toMatchObject({ in_step: false, pauses: [], refused: { reason: 'mass_delete' } })
})
