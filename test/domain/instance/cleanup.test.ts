import { randomBytes } from 'node:crypto'
import { mkdir, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import { holdCollector } from '../../../src/storage/contents/collector-holds.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { makeClock } from '../../support/clock.ts'
import { blobsOf, bytesOf, sha256Of } from '../../support/contents.ts'
import { folderOfTest } from '../../support/server.ts'
import { commitsSeenBy } from '../../support/state.ts'
import { addUser, openForTest } from '../../support/storage.ts'

const LARGE = 100_000

/** A domain whose clock begins so long ago that all it makes is old by the clock of the machine, which the collector heeds too. */
async function world() {
  const dataDir = await folderOfTest()
  const clock = makeClock(Date.now() - 400 * DAY)
  const { domain, close } = await openLocal({ dataDir, env: {}, clock })
  onTestFinished(close)
  const database = openForTest(join(dataDir, 'svc.db'))
  const user = await addUser(database, 'ada')
  const pathOf = (sha256: string) => join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  const age = async (sha256: string) => utimes(pathOf(sha256), clock.now() / 1_000, clock.now() / 1_000)
  return {
    dataDir,
    domain,
    database,
    clock,
    user,
    storage: domain.instance.storage,
    async put(path: string, content: Uint8Array) {
      const staged = await domain.files.receive(Readable.from([content]))
      await domain.files.write(user, path, { staged, claimed: {}, expectation: {} })
      if (staged.data === null) await age(staged.sha256)
    },
    /** A blob that an interrupted upload left. */
    async leave(content: Uint8Array) {
      const sha256 = sha256Of(content)
      await mkdir(dirname(pathOf(sha256)), { recursive: true })
      await writeFile(pathOf(sha256), content)
      await age(sha256)
    },
  }
}

const nothing = { trash: 0, versions: 0, contents: 0, bytes: 0, blobs: 0, blob_bytes: 0, held: false }

test('collecting removes what is past its time, and a dry run says the same and removes nothing', async () => {
  const { put, leave, clock, storage, domain, user, database, dataDir } = await world()
  const shared = bytesOf(LARGE, 1)
  await put('/kept', shared)
  await put('/deleted/copy', shared)
  await put('/deleted/own', bytesOf(LARGE, 2))
  await put('/deleted/small', bytesOf(100, 3))
  await put('/deleted/small', bytesOf(200, 4))
  await put('/changed', bytesOf(300, 5))
  await put('/changed', bytesOf(400, 6))
  await domain.files.remove(user, '/deleted', {})
  await leave(bytesOf(70_000, 7))
  expect(await storage.collect({ dryRun: true })).toEqual(nothing)
  clock.pass(31 * DAY)

  const before = await commitsSeenBy(database)
  const planned = await storage.collect({ dryRun: true })
  expect(await commitsSeenBy(database)).toBe(before)
  expect(planned).toEqual({
    trash: 1,
    versions: 1,
    contents: 4,
    bytes: LARGE + 100 + 200 + 300,
    blobs: 1,
    blob_bytes: 70_000,
    held: false,
  })
  expect(await blobsOf(dataDir)).toHaveLength(3)
  expect(await storage.collect()).toEqual(planned)
  expect(await blobsOf(dataDir)).toEqual([sha256Of(shared)])
  expect(await storage.collect()).toEqual(nothing)
  expect((await storage.check()).problems).toEqual([])
})

test('nothing younger than the grace is collected, and never what is younger than a day', async () => {
  const { put, clock, storage, domain, user } = await world()
  await put('/a', bytesOf(100))
  await domain.files.desktop.erase(user, '/a')
  clock.pass(2 * DAY)
  expect(await storage.collect({ grace: 3 * DAY })).toEqual(nothing)
  expect(await storage.collect({ grace: 0, dryRun: true })).toEqual({ ...nothing, contents: 1, bytes: 100 })
  await put('/b', bytesOf(100))
  await domain.files.desktop.erase(user, '/b')
  expect(await storage.collect({ grace: 0 })).toEqual(nothing)
})

test('while a backup copies contents none is collected', async () => {
  const { put, clock, storage, domain, user, database } = await world()
  await put('/a', bytesOf(100))
  await domain.files.desktop.erase(user, '/a')
  clock.pass(2 * DAY)
  const hold = await holdCollector(database)
  expect(await storage.collect({ dryRun: true })).toEqual({ ...nothing, held: true })
  expect(await storage.collect()).toEqual({ ...nothing, held: true })
  await hold.release()
  expect(await storage.collect()).toEqual({ ...nothing, contents: 1, bytes: 100 })
})

test('the log forgets deletions past their retention, and a client that missed them is told to begin anew', async () => {
  const { put, clock, storage, domain, user, database } = await world()
  await put('/a', bytesOf(100))
  await put('/b', bytesOf(100))
  await domain.files.remove(user, '/a', {})
  expect(await storage.compact()).toEqual({ tombstones: 0, messages: 0 })
  clock.pass(180 * DAY)
  await expect(storage.compact()).rejects.toThrow('Nothing was removed: the clock says')
  clock.pass(DAY)
  const before = await commitsSeenBy(database)
  expect(await storage.compact({ dryRun: true })).toEqual({ tombstones: 1, messages: 0 })
  expect(await commitsSeenBy(database)).toBe(before)
  expect(await storage.compact()).toEqual({ tombstones: 1, messages: 0 })
  expect(await storage.compact()).toEqual({ tombstones: 0, messages: 0 })
  const since = (cursor: number) => domain.sync.changesSince(user, { cursor }, () => new AbortController().signal)
  await expect(since(1)).rejects.toMatchObject({ code: 'cursor_expired' })
  expect((await since(3)).changes).toEqual([])
  expect((await storage.check()).problems).toEqual([])
})

test('freed room goes back to the disk, whoever reads and writes beside it', async () => {
  const { put, clock, storage, domain, user, database, dataDir } = await world()
  for (let name = 0; name < 40; name += 1) await put(`/${name}`, randomBytes(60_000))
  for (let name = 1; name < 40; name += 1) await domain.files.desktop.erase(user, `/${name}`)
  clock.pass(2 * DAY)
  expect(await storage.collect()).toMatchObject({ contents: 39 })
  const fileSize = async () => (await stat(join(dataDir, 'svc.db'))).size
  const [, room] = await Promise.all([put('/beside', bytesOf(100)), storage.shrink(), put('/too', bytesOf(200))])
  expect(room.before - room.after).toBeGreaterThan(39 * 60_000)
  expect(await fileSize()).toBeLessThan(room.before)
  expect((await database.read.q.selectFrom('nodes').select('id').execute()).length).toBe(4)
  expect((await storage.check()).problems).toEqual([])
})
