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
import { note } from '../replica/bench.ts'
import { NOW, temporaryFolder } from './bench.ts'

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
}

/** Watches a folder until so many polls were made. Pushes are refused. */
async function watch({ rowsOf, polls, changed = [], clock = (elapsed) => ({ now: elapsed }) }: Watching) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const events: WatchEvent[] = []
  const cursors: unknown[] = []
  let runs = 0
  let elapsed = 0
  let reached = 1
  const call = async (action: { name: string }, params: { cursor?: number }): Promise<unknown> => {
    if (action.name === 'push') throw fault('maintenance')
    if (action.name !== 'delta') return { limits: {} }
    cursors.push(params.cursor)
    if (cursors.length === polls) stop.abort(new Error('stopped by the test'))
    await nextTurn()
    stop.signal.throwIfAborted()
    const changes = changed.map((table) => ({ table }))
    const cursor = params.cursor! + 1
    if (changes.length > 0) reached = cursor
    return { changes, cursor, has_more: false, server_id: 'server', epoch: 'e' }
  }
  const api = { url: account.url, call } as unknown as Api
  const rows = await rowsOf?.({ api, throttle: (_, request) => request(), signal: stop.signal })
  const watching = watchRoots({
    roots: [temporaryFolder()],
    api,
    run: (_, heard) => {
      runs += 1
      heard({ cursor: reached, epoch: 'e' })
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
