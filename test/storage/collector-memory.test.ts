import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DAY, HOUR, SECOND } from '../../src/base/clock.ts'
import { CollectorRefused } from '../../src/storage/contents/collector-guard.ts'
import { INLINE_MAX, makeContents } from '../../src/storage/contents/contents.ts'
import { openStoreOnDisk } from '../support/blob-stores.ts'
import { bytesOf } from '../support/contents.ts'
import { folderOfTest } from '../support/server.ts'
import { databaseOfTest } from '../support/storage.ts'

// The collector tells leftovers of this database's uploads from contents whose rows were lost, by the clock.

const START = Date.UTC(2026, 10, 21, 12)
let seed = 0

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: START })
})
afterEach(() => {
  vi.useRealTimers()
})

async function world() {
  const { database } = await databaseOfTest()
  const { store, age } = await openStoreOnDisk(join(await folderOfTest(), 'blobs'))
  /** Opens the contents as a new process does. */
  const start = () => makeContents(database, store)
  /** An upload that ends between its publishing and its row. */
  async function leave(contents: ReturnType<typeof start>): Promise<void> {
    const { sha256 } = await contents.stage(Readable.from([bytesOf(INLINE_MAX + 1, (seed += 1))]), Infinity)
    await age(sha256, Date.now())
  }
  return { database, store, start, leave }
}

const later = (ms: number) => void vi.setSystemTime(Date.now() + ms)

test('leftovers are removed after a clock that ran years ahead was put right', async () => {
  const { start, leave } = await world()
  const ahead = start()
  later(3_650 * DAY)
  await leave(ahead)
  later(2 * DAY)
  expect(await ahead.collect(Date.now())).toMatchObject({ contents: 0 })
  vi.setSystemTime(START + HOUR)
  const right = start()
  await leave(right)
  later(2 * DAY)
  await right.collect(Date.now())
  expect((await right.orphans(Date.now())).blobs).toBe(0)
})

test('leftovers are removed that came after the clock was set back under a server that had just started', async () => {
  const { start, leave } = await world()
  await leave(start())
  later(5 * HOUR)
  const contents = start()
  later(-2 * HOUR)
  await leave(contents)
  later(HOUR / 2)
  await leave(contents)
  later(2 * DAY)
  await contents.collect(Date.now())
  expect((await contents.orphans(Date.now())).blobs).toBe(0)
})

test('what a store took long to publish before the server ended is a leftover', async () => {
  const { store, database, start, leave } = await world()
  await leave(start())
  const slow: typeof store = {
    ...store,
    async receive(...given) {
      const arrival = await store.receive(...given)
      return {
        ...arrival,
        async publish() {
          for (let seconds = 0; seconds < 60; seconds += 1) {
            await vi.advanceTimersByTimeAsync(SECOND)
            await database.write('instance', () => Promise.resolve())
          }
          await arrival.publish()
        },
      }
    },
  }
  await makeContents(database, slow).stage(Readable.from([bytesOf(INLINE_MAX + 1, (seed += 1))]), Infinity)
  later(12 * SECOND)
  const next = start()
  await leave(next)
  later(2 * DAY)
  await next.collect(Date.now())
  expect((await next.orphans(Date.now())).blobs).toBe(0)
})

test('what came while another copy of the database was in use is not removed', async () => {
  const { start, leave, store } = await world()
  await leave(start())
  later(HOUR)
  const other = await databaseOfTest()
  await leave(makeContents(other.database, store))
  later(HOUR)
  const contents = start()
  await leave(contents)
  later(2 * DAY)
  await expect(contents.collect(Date.now())).rejects.toThrow(CollectorRefused)
})
