import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR } from '../../src/base/clock.ts'
import { DiskFull } from '../../src/base/errors.ts'
import { TooLarge, type BlobStore } from '../../src/storage/contents/blobs/blobs.ts'
import { everyStore, openStoreOnDisk } from '../support/blob-stores.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { s3OfFile } from '../support/s3.ts'
import { folderOfTest } from '../support/server.ts'
import { smallDisk } from '../support/small-disk.ts'

const MIB = 1 << 20

/** Each has to keep the promises of the interface. */
const stores = everyStore(s3OfFile())

async function* pieces(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) {
    await Promise.resolve()
    yield content.subarray(at, at + size)
  }
}

async function* failing(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  yield* pieces(content, size)
  throw new Error('The line is cut.')
}

/** A content whose upload takes as long as so many questions to the store. */
async function* late(store: BlobStore, content: Uint8Array, questions: number): AsyncGenerator<Uint8Array> {
  for (let asked = 0; asked < questions; asked += 1) await store.has(sha256Of(content))
  yield content
}

async function readAll(store: BlobStore, sha256: string, range?: { start: number; end: number }): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of store.read(sha256, range)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function listed(store: BlobStore) {
  const found: { sha256: string; size: number; touched: number }[] = []
  for await (const blob of store.list()) found.push(blob)
  return found.sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
}

describe.each(stores)('the store on %s', (_, openAt) => {
  const open = async () => openAt(join(await folderOfTest(), 'blobs'))

  describe('keeps a content', () => {
    test.each([
      [0, 1],
      [1, 1],
      [100_000, 1_000],
      [MIB - 1, 65_536],
      [MIB, 65_536],
      [MIB, MIB],
      [MIB + 1, 65_536],
      [3 * MIB, 4 * MIB],
      [9 * MIB + 17, 999_983],
    ])('of %i bytes that came in pieces of %i', async (size, piece) => {
      const { store, leftovers } = await open()
      const content = bytesOf(size)
      const sha256 = sha256Of(content)
      expect(await store.put(pieces(content, piece), Infinity)).toEqual({ sha256, size })
      expect((await readAll(store, sha256)).equals(content)).toBe(true)
      expect([await store.has(sha256), await leftovers()]).toEqual([true, []])
      expect(await listed(store)).toMatchObject([{ sha256, size }])
    })

    test('and gives any part of it', async () => {
      const { store } = await open()
      const content = bytesOf(2 * MIB + 5)
      const { sha256 } = await store.put(pieces(content, 100_000), Infinity)
      for (const [start, end] of [
        [0, 0],
        [0, content.length - 1],
        [MIB - 1, MIB],
        [content.length - 1, content.length - 1],
      ] as const) {
        expect((await readAll(store, sha256, { start, end })).equals(content.subarray(start, end + 1))).toBe(true)
      }
    })

    test('and saves it as a new file, or says that there is none', async () => {
      const { store } = await open()
      const content = bytesOf(MIB + 5)
      const { sha256 } = await store.put(pieces(content, 100_000), Infinity)
      const file = join(await folderOfTest(), 'saved')
      expect(await store.save(sha256, file)).toBe(true)
      expect((await readFile(file)).equals(content)).toBe(true)
      await expect(store.save(sha256, file)).rejects.toThrow('EEXIST')
      expect(await store.save(sha256Of('nothing'), `${file}-2`)).toBe(false)
      await expect(stat(`${file}-2`)).rejects.toThrow('ENOENT')
    })

    test('also when many come at once', async () => {
      const { store, leftovers } = await open()
      const contents = Array.from({ length: 12 }, (_each, index) => bytesOf(100_000 * (index + 1), index + 1))
      const answers = await Promise.all(contents.map((content) => store.put(pieces(content, 30_000), Infinity)))
      expect(answers).toEqual(contents.map((content) => ({ sha256: sha256Of(content), size: content.length })))
      for (const content of contents) expect((await readAll(store, sha256Of(content))).equals(content)).toBe(true)
      expect([(await listed(store)).length, await leftovers()]).toEqual([12, []])
    })

    test('once, however often and in parallel it is put', async () => {
      const { store, leftovers } = await open()
      const content = bytesOf(300_000)
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_each, index) => store.put(pieces(content, 10_000 + index), Infinity)),
      )
      expect(answers).toEqual(answers.map(() => ({ sha256: sha256Of(content), size: content.length })))
      await store.put(pieces(content, 70_000), Infinity)
      expect([(await listed(store)).length, await leftovers()]).toEqual([1, []])
      expect((await readAll(store, sha256Of(content))).equals(content)).toBe(true)
    })

    test('for whoever opens the same place later', async () => {
      const folder = join(await folderOfTest(), 'blobs')
      const { store } = await openAt(folder)
      const { sha256 } = await store.put(pieces(bytesOf(100), 100), Infinity)
      const { store: again } = await openAt(folder)
      expect((await readAll(again, sha256)).equals(bytesOf(100))).toBe(true)
    })
  })

  describe('keeps nothing of a content', () => {
    test.each([0, 1, 1_000, MIB, 3 * MIB + 1])('whose source fails after %i bytes', async (size) => {
      const { store, leftovers } = await open()
      await expect(store.put(failing(bytesOf(size), 65_536), Infinity)).rejects.toThrow('The line is cut.')
      expect([await listed(store), await leftovers()]).toEqual([[], []])
    })

    test.each([1, 1_000, MIB, 2 * MIB + 1])('that is longer than %i bytes, if no more are allowed', async (max) => {
      const { store, leftovers } = await open()
      const content = bytesOf(max + 1)
      await expect(store.put(pieces(content, 65_536), max)).rejects.toThrow(TooLarge)
      await expect(store.put(pieces(content, content.length), max)).rejects.toThrow(TooLarge)
      expect([await listed(store), await leftovers()]).toEqual([[], []])
      await store.put(pieces(content.subarray(0, max), 65_536), max)
      expect((await listed(store)).map(({ size }) => size)).toEqual([max])
    })

    test('that failed, while others beside it are kept', async () => {
      const { store, leftovers } = await open()
      const puts = Array.from({ length: 10 }, (_each, index) => {
        const content = bytesOf(200_000 + index, index + 1)
        return store.put(index % 2 ? failing(content, 9_000) : pieces(content, 9_000), Infinity)
      })
      const outcomes = await Promise.allSettled(puts)
      expect(outcomes.map(({ status }) => status)).toEqual(
        puts.map((_put, index) => (index % 2 ? 'rejected' : 'fulfilled')),
      )
      expect([(await listed(store)).length, await leftovers()]).toEqual([5, []])
    })

    test('it never had', async () => {
      const { store } = await open()
      const unknown = sha256Of('never put')
      expect(await store.has(unknown)).toBe(false)
      await expect(readAll(store, unknown)).rejects.toThrow()
      expect(await store.remove(unknown, Infinity)).toBe(false)
      expect(await listed(store)).toEqual([])
    })
  })

  describe('removes', () => {
    test('what nobody touched since a time, and only that', async () => {
      const { store, age, leftovers } = await open()
      const now = Date.now()
      const hashes: string[] = []
      for (const [index, hours] of [1, 3].entries()) {
        const { sha256 } = await store.put(pieces(bytesOf(100, index + 1), 100), Infinity)
        await age(sha256, now - hours * HOUR)
        hashes.push(sha256)
      }
      const before = now - 2 * HOUR
      expect(await Promise.all(hashes.map((sha256) => store.remove(sha256, before)))).toEqual([false, true])
      expect([await store.has(hashes[0]!), await store.has(hashes[1]!)]).toEqual([true, false])
      await expect(readAll(store, hashes[1]!)).rejects.toThrow()
      expect(await store.remove(hashes[1]!, before)).toBe(false)
      expect(await leftovers()).toEqual([])
    })

    test('nothing that was put again', async () => {
      const { store, age } = await open()
      const { sha256 } = await store.put(pieces(bytesOf(100), 100), Infinity)
      await age(sha256, Date.now() - 2 * DAY)
      const [before] = await listed(store)
      await store.put(pieces(bytesOf(100), 100), Infinity)
      const [after] = await listed(store)
      expect([before!.touched < Date.now() - DAY, after!.touched > Date.now() - HOUR]).toEqual([true, true])
      expect(await store.remove(sha256, Date.now() - DAY)).toBe(false)
      expect(await store.has(sha256)).toBe(true)
    })

    test('nothing that is put at the same moment', async () => {
      const { store, age, leftovers } = await open()
      const content = bytesOf(5_000)
      const sha256 = sha256Of(content)
      await store.put(pieces(content, 5_000), Infinity)
      const removed: boolean[] = []
      for (let round = 0; round < 40; round += 1) {
        await age(sha256, Date.now() - 2 * DAY)
        const before = Date.now() - DAY
        const [, ...gone] = await Promise.all([
          store.put(late(store, content, round % 8), Infinity),
          store.remove(sha256, before),
          new Promise<void>((resolve) => setImmediate(resolve)).then(() => store.remove(sha256, before)),
        ])
        removed.push(...gone)
        expect(await store.has(sha256)).toBe(true)
        expect((await readAll(store, sha256)).equals(content)).toBe(true)
      }
      // Both happened: some were removed before they were put again.
      expect(removed).toContain(true)
      expect(await leftovers()).toEqual([])
    })

    test('once, when several ask for it', async () => {
      const { store, age } = await open()
      const { sha256 } = await store.put(pieces(bytesOf(100), 100), Infinity)
      await age(sha256, Date.now() - 2 * DAY)
      const removed = await Promise.all(Array.from({ length: 5 }, () => store.remove(sha256, Date.now() - DAY)))
      expect(removed.filter(Boolean)).toHaveLength(1)
      expect(await listed(store)).toEqual([])
    })

    test('while it is listed, and the list goes on without it', async () => {
      const { store, age } = await open()
      for (let index = 0; index < 60; index += 1) {
        const { sha256 } = await store.put(pieces(bytesOf(50, index + 1), 50), Infinity)
        await age(sha256, Date.now() - 2 * DAY)
      }
      const all = (await listed(store)).map(({ sha256 }) => sha256)
      const removing = Promise.all(all.map((sha256) => store.remove(sha256, Date.now() - DAY)))
      const seen = await Promise.all(Array.from({ length: 8 }, () => listed(store)))
      expect(seen.filter(({ length }) => length > 60)).toEqual([])
      expect((await removing).every(Boolean)).toBe(true)
      expect(await listed(store)).toEqual([])
    })
  })

  test('keeps a content readable for whoever began to read before it was removed', async () => {
    const { store, age } = await open()
    const content = bytesOf(3 * MIB)
    const { sha256 } = await store.put(pieces(content, MIB), Infinity)
    await age(sha256, 0)
    const reading = store.read(sha256)[Symbol.asyncIterator]()
    const chunks = [(await reading.next()).value as Buffer]
    expect(await store.remove(sha256, Date.now())).toBe(true)
    for (let next = await reading.next(); !next.done; next = await reading.next()) chunks.push(next.value as Buffer)
    expect(Buffer.concat(chunks).equals(content)).toBe(true)
  })

  test('says that it answers', async () => {
    const { store } = await open()
    await expect(store.check()).resolves.toBeUndefined()
  })

  test('says when the disk is full, keeps nothing of what did not fit, and goes on once there is room', async (context) => {
    const made = await smallDisk(4 * MIB)
    if ('reason' in made) return context.skip(made.reason)
    const { store, age, leftovers } = await openAt(join(made.folder, 'blobs'))
    const { sha256: first } = await store.put(pieces(bytesOf(2 * MIB), 65_536), Infinity)
    await expect(store.put(pieces(bytesOf(8 * MIB, 2), 65_536), Infinity)).rejects.toThrow(DiskFull)
    expect([(await listed(store)).length, await leftovers()]).toEqual([1, []])
    expect((await readAll(store, first)).equals(bytesOf(2 * MIB))).toBe(true)
    await age(first, 0)
    await store.remove(first, Date.now())
    expect(await store.put(pieces(bytesOf(3 * MIB, 3), 65_536), Infinity)).toMatchObject({ size: 3 * MIB })
  })
})

describe('the folder of the disk store', () => {
  test('is for its owner only', async () => {
    const folder = join(await folderOfTest(), 'blobs')
    const { store } = await openStoreOnDisk(folder)
    const { sha256 } = await store.put(pieces(bytesOf(100), 100), Infinity)
    const mode = async (...path: string[]) => (await stat(join(folder, ...path))).mode & 0o077
    const [outer, inner] = [sha256.slice(0, 2), sha256.slice(2, 4)]
    expect(await Promise.all([mode('tmp'), mode(outer), mode(outer, inner), mode(outer, inner, sha256)])).toEqual([
      0, 0, 0, 0,
    ])
  })

  test('loses what interrupted uploads left, once it is a day old', async () => {
    const folder = join(await folderOfTest(), 'blobs')
    await mkdir(join(folder, 'tmp'), { recursive: true })
    for (const [name, age] of [
      ['old', 25 * HOUR],
      ['young', 23 * HOUR],
    ] as const) {
      await writeFile(join(folder, 'tmp', name), 'x')
      await utimes(join(folder, 'tmp', name), new Date(Date.now() - age), new Date(Date.now() - age))
    }
    await openStoreOnDisk(folder)
    expect(await readdir(join(folder, 'tmp'))).toEqual(['young'])
  })

  test('keeps a content that a put touches in the middle of its removal', async () => {
    const folder = join(await folderOfTest(), 'blobs')
    const { store, age } = await openStoreOnDisk(folder)
    const { sha256 } = await store.put(pieces(bytesOf(100), 100), Infinity)
    const path = join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
    for (let round = 0; round < 50; round += 1) {
      await age(sha256, Date.now() - 2 * DAY)
      const removing = store.remove(sha256, Date.now() - DAY)
      // What a put does that finds its content there; it falls between the removal's look and its grip now and then.
      const touching = utimes(path, new Date(), new Date()).then(
        () => true,
        () => false,
      )
      const [removed, touched] = await Promise.all([removing, touching])
      if (touched) expect([removed, await store.has(sha256)]).toEqual([false, true])
      if (removed) await store.put(pieces(bytesOf(100), 100), Infinity)
    }
  })

  test('is listed to its end also when contents vanish from it meanwhile', async () => {
    const folder = join(await folderOfTest(), 'blobs')
    const { store } = await openStoreOnDisk(folder)
    await mkdir(join(folder, 'ab', 'cd'), { recursive: true })
    const names = Array.from({ length: 20 }, (_, index) => `abcd${String(index).padStart(60, '0')}`)
    for (const name of names) await writeFile(join(folder, 'ab', 'cd', name), 'x')
    const seen: string[] = []
    for await (const { sha256 } of store.list()) {
      seen.push(sha256)
      for (const other of names) if (other !== sha256) await store.remove(other, Infinity)
    }
    expect(seen).toHaveLength(1)
  })

  test('can be opened by two processes at once', async () => {
    const folder = join(await folderOfTest(), 'blobs')
    await mkdir(join(folder, 'tmp'), { recursive: true })
    for (let index = 0; index < 50; index += 1) {
      await writeFile(join(folder, 'tmp', `old-${index}`), 'x')
      await utimes(join(folder, 'tmp', `old-${index}`), 0, 0)
    }
    await Promise.all([openStoreOnDisk(folder), openStoreOnDisk(folder), openStoreOnDisk(folder)])
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
  })
})

test('a content that a killed process had taken away to remove is brought back, also after a day', async () => {
  const folder = join(await folderOfTest(), 'blobs')
  const { store } = await openStoreOnDisk(folder)
  const { sha256 } = await store.put(pieces(bytesOf(100), 100), Infinity)
  const path = join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  const then = new Date(Date.now() - 2 * DAY)
  await utimes(path, then, then)
  // No process has such a number.
  await rename(path, join(folder, 'tmp', `${sha256}.99999999.00c0ffee`))
  const { store: again, leftovers } = await openStoreOnDisk(folder)
  expect((await readAll(again, sha256)).equals(bytesOf(100))).toBe(true)
  expect(await leftovers()).toEqual([])
})
