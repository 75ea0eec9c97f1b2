import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { fault } from '../../../src/contract/errors.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type { Api } from '../../../src/client/api.ts'
import type { Summary } from '../../../src/client/sync/report/events.ts'
import { watchRoots, type WatchEvent, type WatchOptions } from '../../../src/client/sync/watch.ts'
import { makeReplicaWatch } from '../../../src/client/sync/replica-watch.ts'
import type { Line } from '../../../src/client/replica/exchange.ts'
import { rememberAccount, replicaFile } from '../../../src/client/replica/replica-file.ts'
import { openReplica } from '../../../src/client/replica/replica.ts'
import type { FeedPosition } from '../../../src/client/sync/remote/remote-listing.ts'
import { note } from '../replica/bench.ts'
import { NOW, temporaryFolder } from './bench.ts'

const START: FeedPosition = { cursor: 1, epoch: 'e' }

type Rows = NonNullable<WatchOptions['rows']>

const HOUR = 3_600_000

const account = { url: 'http://127.0.0.1:1', username: 'ada', token: 'a'.repeat(64), profile: '' }

/** The rows of a watch with a queued change. */
async function queuedRows(line: Line) {
  const stateFolder = temporaryFolder()
  const clock = { now: () => NOW }
  const owner = { server_id: 'server', user_id: 1 }
  await rememberAccount(stateFolder, account, owner, NOW)
  const { copy } = openReplica(replicaFile(stateFolder, owner), owner, clock)
  copy.change([note('queued')], true)
  copy.close()
  return makeReplicaWatch({ stateFolder, account, line, clock, sent: () => expect.unreachable() })
}

interface Watching {
  rowsOf?: (line: Line) => Promise<Rows> | Rows
  /** The last poll gets no answer. */
  polls: number
  /** Tables that each page has changes of. */
  changed?: string[]
  clock?: (elapsed: () => number) => Clock
  /** The feed positions of the folders; all but the last are paused after it. The server is in the epoch of the last. */
  heard?: FeedPosition[]
}

/** Watches a folder until so many polls were made. Pushes are refused. */
async function watch({
  rowsOf,
  polls,
  changed = [],
  clock = (elapsed) => ({ now: elapsed }),
  heard = [START],
}: Watching) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const events: WatchEvent[] = []
  const cursors: unknown[] = []
  let runs = 0
  let elapsed = 0
  let reached = 0
  const roots = heard.map(() => temporaryFolder())
  const call = async (action: { name: string }, params: Partial<FeedPosition>): Promise<unknown> => {
    if (action.name === 'push') throw fault('maintenance')
    if (action.name !== 'delta') return { limits: {} }
    cursors.push(params.cursor)
    if (cursors.length === polls) stop.abort(new Error('stopped by the test'))
    await nextTurn()
    stop.signal.throwIfAborted()
    if (params.epoch !== heard.at(-1)!.epoch) throw fault('epoch_mismatch')
    const changes = changed.map((table) => ({ table }))
    const cursor = params.cursor! + 1
    if (changes.length > 0) reached = cursor
    return { changes, cursor, has_more: false, server_id: 'server', epoch: params.epoch }
  }
  const api = { url: account.url, call } as unknown as Api
  const rows = await rowsOf?.({ api, throttle: (_, request) => request(), signal: stop.signal })
  const watching = watchRoots({
    roots,
    api,
    run: (root, onPosition) => {
      runs += 1
      const { cursor, epoch } = heard[roots.indexOf(root)]!
      const isPaused = root !== roots.at(-1)
      if (!isPaused || runs <= roots.length) onPosition({ cursor: Math.max(cursor, reached), epoch })
      if (isPaused) return Promise.reject(new Error('The folder is in doubt.'))
      return Promise.resolve({ skipped: [] as Summary['skipped'] } as Summary)
    },
    clock: clock(() => NOW + elapsed),
    sleep: async (ms, signal) => {
      elapsed += Math.min(ms, HOUR)
      await nextTurn()
      signal?.throwIfAborted()
    },
    random: () => 0,
    signal: stop.signal,
    emit: (event) => void events.push(event),
    ...(rows ? { rows } : {}),
  })
  await expect(watching).rejects.toThrow('stopped by the test')
  return { cursors, runs, elapsed, events: events.map(({ event }) => event) }
}

test('the feed is followed while the server accepts no changes of rows', async () => {
  const { cursors, events } = await watch({ rowsOf: queuedRows, polls: 3 })
  expect(cursors).toEqual([1, 2, 3])
  expect(events).toEqual(['watching'])
})

test('rows that cannot be stored here do not end watching: the same page is requested again', async () => {
  let attempts = 0
  const { cursors, runs } = await watch({
    rowsOf: () => ({
      send: () => Promise.resolve(),
      learn: () =>
        (attempts += 1) === 1
          ? Promise.reject(Object.assign(new Error('The disk is full.'), { code: 'ENOSPC' }))
          : Promise.resolve(),
    }),
    polls: 3,
  })
  expect(cursors).toEqual([1, 1, 2])
  expect(runs).toBeGreaterThan(1)
})

test('a clock that is set back does not put off the runs that follow changes', async () => {
  const clock = (monotonic: () => number): Clock => ({ now: () => 2 * NOW - 10 * monotonic(), monotonic })
  const { cursors, runs } = await watch({ polls: 4, changed: ['svc_files'], clock })
  expect(cursors).toEqual([1, 2, 3, 4])
  expect(runs).toBeGreaterThanOrEqual(4)
})

test('a paused folder that does not know of a restore does not keep the others from following the feed', async () => {
  const heard = [
    { cursor: 1_000, epoch: 'before' },
    { cursor: 5, epoch: 'after' },
  ]
  const { cursors } = await watch({ polls: 4, heard })
  expect(cursors).toEqual([1_000, 5, 6, 7])
})
