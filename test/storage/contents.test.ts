import { Readable } from 'node:stream'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR } from '../../src/base/clock.ts'
import { Busy } from '../../src/base/errors.ts'
import { insertRelease } from '../../src/storage/desktop/app-releases.ts'
import { insertApp } from '../../src/storage/desktop/apps.ts'
import { TooLarge } from '../../src/storage/contents/blobs/blobs.ts'
import { holdCollector } from '../../src/storage/contents/collector-holds.ts'
import { INLINE_MAX, makeContents, type Staged } from '../../src/storage/contents/contents.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { insertNode, replaceFile, rootOf } from '../../src/storage/files/nodes.ts'
import { everyStore, type OpenedStore } from '../support/blob-stores.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { s3OfFile } from '../support/s3.ts'
import { folderOfTest } from '../support/server.ts'
import { databaseOfTest } from '../support/storage.ts'

const LARGE = INLINE_MAX + 1

async function worldOn(openAt: (folder: string) => Promise<OpenedStore>) {
  const { database, user } = await databaseOfTest()
  const { store: blobs, age: touchBlob, leftovers } = await openAt(join(await folderOfTest(), 'blobs'))
  const contents = makeContents(database, blobs)
  const ago = (ms: number) => Date.now() - ms
  let names = 0

  async function* source(content: Uint8Array) {
    await Promise.resolve()
    yield* Readable.from(
      [content.subarray(0, 1_000), content.subarray(1_000)].filter(({ length }) => length > 0),
    ) as AsyncIterable<Buffer>
  }
  const stage = (content: Uint8Array, max = Infinity) => contents.stage(source(content), max)
  return {
    database,
    user,
    contents,
    blobs,
    ago,
    stage,
    touchBlob,
    leftovers,
    /** Stores a content that was touched at a time; with `file` a file points to it. Returns its hash. */
    async keep(content: Uint8Array, at: number, file: boolean): Promise<Staged & { node: number }> {
      const staged = await stage(content)
      const node = await database.write('instance', async (tx) => {
        await contents.claim(tx, staged, at)
        const name = `file ${++names}`
        const entry = {
          user_id: user,
          parent_id: await rootOf(tx, user),
          room_id: null,
          name,
          name_key: name,
          type: 'file' as const,
          sha256: staged.sha256,
          size: staged.size,
          mtime: 0,
        }
        return file ? insertNode(tx, entry, at) : 0
      })
      if (staged.data === null) await touchBlob(staged.sha256, at)
      return { ...staged, node }
    },
    async bytes(sha256: string, range?: { start: number; end: number }): Promise<Buffer> {
      const found = await contents.read(sha256, range)
      if (Buffer.isBuffer(found)) return found
      const chunks: Buffer[] = []
      for await (const chunk of found) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    },
    hashes: async () =>
      (await database.read.q.selectFrom('contents').select('sha256').orderBy('sha256').execute()).map(
        ({ sha256 }) => sha256,
      ),
  }
}

describe.each(everyStore(s3OfFile()))('beside the store on %s', (_store, openAt) => {
  const world = () => worldOn(openAt)

  describe('a content that is received', () => {
    test.each([0, 1, 999, 1_000, 1_001, INLINE_MAX, LARGE, 1 << 20])(
      'has the hash and size of its %i bytes, and reads back',
      async (size) => {
        const { stage, contents, database, bytes, blobs } = await world()
        const content = bytesOf(size)
        const staged = await stage(content)
        expect([staged.sha256, staged.size, staged.data === null]).toEqual([sha256Of(content), size, size > INLINE_MAX])
        expect(await blobs.has(staged.sha256)).toBe(size > INLINE_MAX)
        await database.write('instance', (tx) => contents.claim(tx, staged, 5))
        expect((await bytes(staged.sha256)).equals(content)).toBe(true)
        if (size > 10)
          expect((await bytes(staged.sha256, { start: 3, end: 9 })).equals(content.subarray(3, 10))).toBe(true)
      },
    )

    test.each([10, INLINE_MAX, LARGE, 300_000])(
      'is refused beyond %i bytes, and its source is told to stop',
      async (max) => {
        const { contents, leftovers, blobs } = await world()
        let stopped = false
        async function* endless() {
          try {
            for (;;) {
              await Promise.resolve()
              yield bytesOf(1_000)
            }
          } finally {
            stopped = true
          }
        }
        await expect(contents.stage(endless(), max)).rejects.toThrow(TooLarge)
        expect([stopped, await leftovers()]).toEqual([true, []])
        for await (const blob of blobs.list()) expect.fail(`left ${blob.sha256}`)
      },
    )

    test('is no row before it is claimed, and one however often it is', async () => {
      const { stage, contents, database, hashes } = await world()
      const staged = await stage(bytesOf(10))
      expect(await hashes()).toEqual([])
      await expect(contents.read(staged.sha256)).rejects.toThrow('missing')
      await database.write('instance', (tx) => contents.claim(tx, staged, 1))
      await database.write('instance', (tx) => contents.claim(tx, staged, 2))
      expect(await hashes()).toEqual([staged.sha256])
    })
  })

  describe('collecting', () => {
    const kinds = [
      ['small', 100],
      ['large', LARGE],
    ] as const

    test.each(kinds)('takes a %s content that nothing points to, once it is old', async (_, size) => {
      const { keep, contents, ago, hashes, blobs } = await world()
      const old = await keep(bytesOf(size, 1), ago(3 * DAY), false)
      const young = await keep(bytesOf(size, 2), ago(HOUR), false)
      expect(await contents.collect(ago(2 * DAY))).toEqual({ contents: 1, bytes: size })
      expect(await hashes()).toEqual([young.sha256])
      expect([await blobs.has(old.sha256), await blobs.has(young.sha256)]).toEqual([false, size > INLINE_MAX])
    })

    test.each(kinds)('leaves a %s content that a file, or the version of one, points to', async (_, size) => {
      const { keep, contents, ago, hashes, bytes, database, user } = await world()
      const first = await keep(bytesOf(size, 1), ago(9 * DAY), true)
      const second = await keep(bytesOf(size, 2), ago(9 * DAY), false)
      const { node, sha256, size: length } = { ...second, node: first.node }
      await database.write('instance', (tx) =>
        replaceFile(tx, { id: node, user_id: user, sha256, size: length, mtime: 0 }, true, ago(9 * DAY)),
      )
      expect(await contents.collect(ago(DAY))).toEqual({ contents: 0, bytes: 0 })
      expect(await hashes()).toEqual([first.sha256, second.sha256].sort())
      for (const [index, each] of [first, second].entries())
        expect((await bytes(each.sha256)).equals(bytesOf(size, index + 1))).toBe(true)
    })

    test.each(kinds)('leaves a %s content that a release of an app has among its files', async (_, size) => {
      const { keep, contents, ago, hashes, bytes, database } = await world()
      const { sha256 } = await keep(bytesOf(size), ago(9 * DAY), false)
      const app = { slug: 'clock', name: 'Clock', description: '', icon_url: '', app_path: '/', category: 'utility' }
      const flags = { supports_context: 0, is_system: 1, admin_only: 0, created_by: null }
      await database.write('instance', async (tx) => {
        const id = (await insertApp(tx, { ...app, ...flags }, 1))!
        for (const version of ['1.0.0', '2.0.0']) {
          const files = version === '1.0.0' ? [{ path: 'index.html', sha256, size }] : []
          await insertRelease(tx, { app_id: id, version, sha256: 'x', manifest: '{}', installed_at: 1, files })
        }
      })
      expect(await contents.collect(ago(DAY))).toEqual({ contents: 0, bytes: 0 })
      expect((await bytes(sha256)).equals(bytesOf(size))).toBe(true)
      await database.write('instance', (tx) => tx.q.deleteFrom('apps').where('slug', '=', 'clock').execute())
      expect(await contents.collect(ago(DAY))).toEqual({ contents: 1, bytes: size })
      expect(await hashes()).toEqual([])
    })

    test.each(kinds)('leaves a %s content that is younger than a day, whatever it is told', async (_, size) => {
      const { keep, contents, ago, hashes, blobs } = await world()
      const { sha256 } = await keep(bytesOf(size), ago(DAY - HOUR), false)
      expect(await contents.collect(Infinity)).toEqual({ contents: 0, bytes: 0 })
      expect(await hashes()).toEqual([sha256])
      expect(await blobs.has(sha256)).toBe(size > INLINE_MAX)
    })

    test('takes a blob without a row once it is old: an upload that was never finished', async () => {
      const { stage, touchBlob, contents, ago, blobs } = await world()
      const [old, young] = [await stage(bytesOf(LARGE, 1)), await stage(bytesOf(LARGE, 2))]
      await touchBlob(old.sha256, ago(3 * DAY))
      await touchBlob(young.sha256, ago(HOUR))
      await contents.collect(ago(2 * DAY))
      expect([await blobs.has(old.sha256), await blobs.has(young.sha256)]).toEqual([false, true])
    })

    test('tries again what the store did not remove in time', async () => {
      const { keep, ago, database, blobs } = await world()
      let isSlow = true
      const remove: typeof blobs.remove = async (...what) => (isSlow ? false : blobs.remove(...what))
      const contents = makeContents(database, { ...blobs, remove })
      const { sha256 } = await keep(bytesOf(LARGE), ago(5 * DAY), false)
      await contents.collect(ago(DAY))
      expect(await blobs.has(sha256)).toBe(true)
      isSlow = false
      await contents.collect(ago(DAY))
      expect(await blobs.has(sha256)).toBe(false)
    })

    test.each(kinds)(
      'leaves a %s content that an upload has just received again, and will point to',
      async (_, size) => {
        const { keep, stage, contents, ago, database, bytes } = await world()
        const { sha256 } = await keep(bytesOf(size), ago(5 * DAY), false)
        const staged = await stage(bytesOf(size))
        await contents.collect(ago(DAY))
        await database.write('instance', (tx) => contents.claim(tx, staged, Date.now()))
        await contents.collect(ago(DAY))
        expect((await bytes(sha256)).equals(bytesOf(size))).toBe(true)
      },
    )

    test.each(kinds)('beside uploads of the same %s content never takes it from under them', async (_, size) => {
      const { keep, stage, contents, ago, database, bytes, touchBlob } = await world()
      const content = bytesOf(size)
      const { sha256 } = await keep(content, ago(5 * DAY), false)
      for (let round = 0; round < 15; round += 1) {
        await database.write('instance', (tx) =>
          tx.q
            .updateTable('contents')
            .set({ touched_at: ago(5 * DAY) })
            .where('sha256', '=', sha256)
            .execute(),
        )
        if (size > INLINE_MAX) await touchBlob(sha256, ago(5 * DAY))
        const upload = async () => {
          const staged = await stage(content)
          await database.write('instance', (tx) => contents.claim(tx, staged, Date.now()))
        }
        await Promise.all([upload(), contents.collect(ago(DAY)), contents.collect(ago(DAY))])
        expect((await bytes(sha256)).equals(content)).toBe(true)
      }
    })
  })

  test('puts nothing into the store before it is noted that the database is in use', async () => {
    const { database, blobs } = await world()
    const counts = { noting: 0, published: 0 }
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const write: Database['write'] = async (scope, unit) => {
      counts.noting += 1
      await gate
      return database.write(scope, unit)
    }
    const receive: typeof blobs.receive = async (...what) => {
      const arrival = await blobs.receive(...what)
      const publish = () => {
        counts.published += 1
        return arrival.publish()
      }
      return { ...arrival, publish }
    }
    const contents = makeContents({ ...database, write }, { ...blobs, receive })
    const staging = [1, 2].map((seed) => contents.stage(Readable.from([bytesOf(LARGE, seed)]), Infinity))
    while (counts.noting + counts.published < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(counts).toEqual({ noting: 2, published: 0 })
    open()
    await Promise.all(staging)
  })

  describe('reclaiming what an account let go of', () => {
    const kinds = [
      ['small', 100],
      ['large', LARGE],
    ] as const

    const remove = (database: Database, node: number) =>
      database.write('instance', (tx) => tx.q.deleteFrom('nodes').where('id', '=', node).execute())

    test.each(kinds)('takes a %s content at once, however young, that nothing else points to', async (_, size) => {
      const { keep, contents, hashes, blobs, database, user } = await world()
      const gone = await keep(bytesOf(size, 1), Date.now(), true)
      const [shared, twin] = [await keep(bytesOf(size, 2), 1, true), await keep(bytesOf(size, 2), 1, true)]
      const other = await keep(bytesOf(size, 3), Date.now(), false)
      for (const { node } of [gone, shared]) await remove(database, node)
      await contents.reclaim(user + 1)
      expect(await hashes()).toContain(gone.sha256)
      await contents.reclaim(user)
      expect(await hashes()).toEqual([twin.sha256, other.sha256].sort())
      if (size <= INLINE_MAX) return
      expect([await blobs.has(gone.sha256), await blobs.has(twin.sha256)]).toEqual([false, true])
    })

    test('takes what was published and came to nothing', async () => {
      const { stage, contents, hashes, blobs, database, user } = await world()
      const staged = await stage(bytesOf(LARGE))
      await database.write('instance', (tx) => contents.abandon(tx, user, staged, Date.now()))
      await contents.reclaim(user)
      expect([await hashes(), await blobs.has(staged.sha256)]).toEqual([[], false])
    })

    test('waits while somebody copies contents', async () => {
      const { keep, contents, hashes, database, user } = await world()
      const { node, sha256 } = await keep(bytesOf(LARGE), Date.now(), true)
      await remove(database, node)
      const hold = await holdCollector(database)
      await contents.reclaim(user)
      expect(await hashes()).toEqual([sha256])
      await hold.release()
      await contents.reclaim(user)
      expect(await hashes()).toEqual([])
    })

    test('does not wait for who was killed while the clock ran ahead', async () => {
      const { keep, contents, hashes, database, user } = await world()
      const { node } = await keep(bytesOf(LARGE), Date.now(), true)
      await remove(database, node)
      const hold = await holdCollector(database)
      const expires_at = Date.now() + 3_650 * DAY
      await database.write('instance', (tx) => tx.q.updateTable('collector_holds').set({ expires_at }).execute())
      await expect(hold.renew()).rejects.toThrow(Busy)
      await contents.reclaim(user)
      expect(await hashes()).toEqual([])
    })

    test('turns away who published the same content before, and nobody who does so afterwards', async () => {
      const { keep, stage, contents, bytes, database, user } = await world()
      const { node, sha256 } = await keep(bytesOf(LARGE), Date.now(), true)
      const early = await stage(bytesOf(LARGE))
      await remove(database, node)
      await contents.reclaim(user)
      await expect(database.write('instance', (tx) => contents.claim(tx, early, Date.now()))).rejects.toThrow(Busy)
      const late = await stage(bytesOf(LARGE))
      await database.write('instance', (tx) => contents.claim(tx, late, Date.now()))
      expect((await bytes(sha256)).equals(bytesOf(LARGE))).toBe(true)
    })

    test.each(kinds)('beside uploads of the same %s content never takes it from under them', async (_, size) => {
      const { keep, contents, bytes, database, user } = await world()
      const content = bytesOf(size)
      let stored = 0
      for (let round = 0; round < 15; round += 1) {
        const first = await keep(content, Date.now(), true).catch(nullWhenBusy)
        if (first) await remove(database, first.node)
        const uploads = [1, 2].map(() => keep(content, Date.now(), true).catch(nullWhenBusy))
        const kept = await Promise.all([...uploads, contents.reclaim(user), contents.reclaim(user)])
        for (const file of kept) {
          if (!file) continue
          stored += 1
          expect((await bytes(file.sha256)).equals(content)).toBe(true)
        }
        for (const file of kept) if (file) await remove(database, file.node)
      }
      expect(stored).toBeGreaterThan(0)
    })
  })
})

const nullWhenBusy = (error: unknown): null => {
  if (error instanceof Busy) return null
  throw error
}
