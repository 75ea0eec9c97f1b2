import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import type { Database, Reader } from '../../src/storage/engine/database.ts'
import { folderOfTest } from '../support/server.ts'
import { openForTest } from '../support/storage.ts'

// A server flushes the log on another thread: who sees what until that is done.

/** A flush that ends when the test says so; each call waits for its own word. */
function makeFlush() {
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  let begun: () => void = () => undefined
  return {
    flushFile: () =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ resolve, reject })
        begun()
      }),
    /** Resolves when a flush waits for its end. */
    begun: async () => {
      if (waiting.length === 0) await new Promise<void>((resolve) => (begun = resolve))
    },
    succeed: () => waiting.shift()!.resolve(),
    fail: () => waiting.shift()!.reject(Object.assign(new Error('i/o error'), { code: 'EIO' })),
  }
}

const count = async (on: Reader) => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from items`.execute(on.q)
  return rows[0]!.n
}
const insert = (database: Database, bytes = 0) =>
  database.write('instance', (tx) => sql`insert into items (data) values (zeroblob(${bytes}))`.execute(tx.q))

async function world() {
  const file = join(await folderOfTest(), 'svc.db')
  const made = openForTest(file)
  await made.write('instance', (tx) => sql`create table items (id integer primary key, data blob)`.execute(tx.q))
  const flush = makeFlush()
  const database = openSqlite(file, { flush: 'background', flushFile: flush.flushFile })
  return { file, database, flush, other: made }
}

test('a commit is acknowledged and visible when it is flushed, and not before', async () => {
  const { database, flush } = await world()
  onTestFinished(() => database.close())
  let isAcknowledged = false
  const writing = insert(database).then(() => (isAcknowledged = true))
  await flush.begun()
  expect([await count(database.read), isAcknowledged]).toEqual([0, false])
  flush.succeed()
  await writing
  expect(await count(database.read)).toBe(1)
})

test('what another process commits during a flush is visible at once: it flushed the log', async () => {
  const { database, flush, other } = await world()
  onTestFinished(() => database.close())
  const writing = insert(database)
  await flush.begun()
  expect(await count(database.read)).toBe(0)
  await insert(other)
  expect(await count(database.read)).toBe(2)
  flush.succeed()
  await writing
  const again = insert(database)
  await flush.begun()
  expect(await count(database.read)).toBe(2)
  flush.succeed()
  await again
  expect(await count(database.read)).toBe(3)
})

test('a snapshot that is asked for during a flush begins after it', async () => {
  const { database, flush } = await world()
  onTestFinished(() => database.close())
  const writing = insert(database)
  await flush.begun()
  let seen: number | undefined
  const looking = database.snapshot(async (at) => (seen = await count(at)))
  await new Promise(setImmediate)
  expect(seen).toBeUndefined()
  flush.succeed()
  await Promise.all([writing, looking])
  expect(seen).toBe(1)
})

test('units that arrive during a flush are committed together after it', async () => {
  const { database, flush } = await world()
  onTestFinished(() => database.close())
  const first = insert(database)
  await flush.begun()
  const others = Array.from({ length: 9 }, () => insert(database))
  flush.succeed()
  await first
  await flush.begun()
  expect(await count(database.read)).toBe(1)
  flush.succeed()
  await Promise.all(others)
  expect(await count(database.read)).toBe(10)
})

test('what another process commits is seen, also while this one flushes nothing', async () => {
  const { database, other } = await world()
  onTestFinished(() => database.close())
  await insert(other)
  expect(await count(database.read)).toBe(1)
})

test('after a flush that failed nothing is acknowledged, nothing more is written, and readers stay where they were', async () => {
  const { database, flush } = await world()
  onTestFinished(() => database.close())
  const failures: string[] = []
  database.onFailure((failure) => failures.push(failure.message))
  const writing = Promise.allSettled([insert(database)])
  await flush.begun()
  flush.fail()
  expect(await writing).toMatchObject([{ status: 'rejected', reason: { name: 'FlushFailed' } }])
  await expect(insert(database)).rejects.toThrow('did not store what was written')
  await expect(database.snapshot(count)).rejects.toThrow('did not store what was written')
  expect([await count(database.read), failures.length]).toEqual([0, 1])
})

test('the log does not grow with what is written, though the writer makes no checkpoint itself', async () => {
  const file = join(await folderOfTest(), 'svc.db')
  const database = openSqlite(file, { flush: 'background' })
  onTestFinished(() => database.close())
  await database.write('instance', (tx) => sql`create table items (id integer primary key, data blob)`.execute(tx.q))
  // However late the thread is, the writer waits for it at 16,000 pages of 4 KiB.
  for (let round = 0; round < 300; round += 1) await insert(database, 400_000)
  expect(statSync(`${file}-wal`).size).toBeLessThan(80e6)
  expect(statSync(file).size).toBeGreaterThan(40e6)
  expect(await count(database.read)).toBe(300)
})
