import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Busy } from '../../src/base/errors.ts'
import type { BlobStore } from '../../src/storage/contents/blobs/blobs.ts'
import { partSizeOf } from '../../src/storage/contents/blobs/s3-upload.ts'
import { openS3, type S3Tuning } from '../../src/storage/contents/blobs/s3.ts'
import { bytesOf, chunked, filesBelow, sha256Of } from '../support/contents.ts'
import { s3OfFile } from '../support/s3.ts'
import { lineOfTest, type Asked } from '../support/s3-line.ts'
import { folderOfTest } from '../support/server.ts'

const MIB = 1 << 20
const server = s3OfFile()
/** Parts as the server of the tests takes them, though no other does. */
const small = { single: 100_000, part: 100_000 }

async function world(tuning: Partial<S3Tuning> = {}) {
  const bucket = await server.bucket()
  const line = await lineOfTest(bucket.endpoint)
  const scratch = await folderOfTest()
  const open = async (prefix?: string) => {
    const place = bucket.place({ endpoint: line.url, ...(prefix !== undefined && { prefix }) })
    const store = await openS3(place, scratch, { tries: 3, pause: 2, ...tuning })
    onTestFinished(() => store.close())
    return store
  }
  return { bucket, line, scratch, open, store: await open() }
}

const source = (content: Uint8Array) => chunked(content, 100_000) as unknown as AsyncIterable<Uint8Array>
const all = (store: BlobStore): Promise<{ sha256: string }[]> => Readable.from(store.list()).toArray()
const keyOf = (sha256: string) => `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
const isPart = ({ url }: Asked) => url.includes('partNumber=')
const isJoining = ({ method, url }: Asked) => method === 'POST' && url.includes('uploadId=')

describe('a large content', () => {
  test('goes to an S3 store in parts', async () => {
    const { bucket, line, scratch, store } = await world()
    const content = bytesOf(70 * MIB)
    const sha256 = sha256Of(content)
    expect(await store.put(source(content), Infinity)).toEqual({ sha256, size: content.length })
    const sent = line.asked.filter(isPart)
    expect(sent.map(({ headers }) => Number(headers['content-length'])).sort((a, b) => a - b)).toEqual([
      6 * MIB,
      32 * MIB,
      32 * MIB,
    ])
    const parts = [0, 32, 64].map((from) => sha256Of(content.subarray(from * MIB, (from + 32) * MIB)))
    expect(sent.map(({ headers }) => headers['x-amz-content-sha256']).sort()).toEqual(parts.sort())
    expect(sha256Of(Buffer.concat((await store.read(sha256).toArray()) as Buffer[]))).toBe(sha256)
    expect([await bucket.objects(), await bucket.uploads(), await filesBelow(scratch)]).toEqual([
      [keyOf(sha256)],
      [],
      [],
    ])
  })

  test('goes in larger parts where there would be too many', () => {
    const [part, most] = [32 * MIB, 10_000]
    expect(partSizeOf(part * most, part)).toBe(part)
    const larger = partSizeOf(part * most + 1, part)
    expect([larger, Math.ceil((part * most + 1) / larger)]).toEqual([part + 1, most])
  })

  test('is kept though parts of it break off and its joining fails at first', async () => {
    const { bucket, line, store } = await world(small)
    let [cuts, joinings] = [0, 0]
    line.decide((asked) => {
      if (asked.url.includes('partNumber=2') && (cuts += 1) < 3) return { cutAfter: 50_000 }
      if (isJoining(asked) && (joinings += 1) === 1)
        return { answer: { status: 200, body: ' <Error><Code>InternalError</Code></Error>' } }
      return undefined
    })
    const { sha256 } = await store.put(source(bytesOf(450_000)), Infinity)
    expect(line.asked.filter(isPart)).toHaveLength(7)
    expect(sha256Of(Buffer.concat((await store.read(sha256).toArray()) as Buffer[]))).toBe(sha256)
    expect([joinings, await bucket.uploads()]).toEqual([2, []])
  })

  test.each([
    ['a part of it is refused', (asked: Asked) => asked.url.includes('partNumber=3'), 403, 'AccessDenied'],
    ['a part of it fails for good', (asked: Asked) => asked.url.includes('partNumber=3'), 500, 'InternalError'],
    ['its parts cannot be joined', isJoining, 400, 'InvalidPart'],
    ['its joining says at last that it failed', isJoining, 200, 'InternalError'],
  ])('leaves nothing behind when %s', async (_, isMeant, status, code) => {
    const { bucket, line, scratch, store } = await world(small)
    line.decide((asked) => (isMeant(asked) ? { answer: { status, code } } : undefined))
    await expect(store.put(source(bytesOf(950_000)), Infinity)).rejects.toThrow(/AccessDenied|denies|InternalError|Inv/)
    expect([await bucket.objects(), await bucket.uploads(), await filesBelow(scratch)]).toEqual([[], [], []])
    // Nothing is on its way any more, so that giving up is the last that the store hears.
    expect(line.asked.at(-1)).toMatchObject({ method: 'DELETE' })
  })

  test('is sent again when the answer to its joining was lost', async () => {
    const { bucket, line, store } = await world(small)
    let joined = ''
    line.decide((asked) => {
      if (!isJoining(asked)) return undefined
      if (joined === asked.url) return { answer: { status: 404, code: 'NoSuchUpload' } }
      if (joined) return undefined
      joined = asked.url
      return { loseAnswer: true }
    })
    const { sha256 } = await store.put(source(bytesOf(250_000)), Infinity)
    expect(line.asked.filter(isPart)).toHaveLength(6)
    expect([await bucket.objects(), await bucket.uploads()]).toEqual([[keyOf(sha256)], []])
  })

  test('that a store loses time and again is given up', async () => {
    const { bucket, line, store } = await world(small)
    line.decide((asked) => (isJoining(asked) ? { answer: { status: 404, code: 'NoSuchUpload' } } : undefined))
    await expect(store.put(source(bytesOf(250_000)), Infinity)).rejects.toThrow('NoSuchUpload')
    expect(line.asked.filter(isJoining)).toHaveLength(3)
    expect(await bucket.objects()).toEqual([])
  })
})

describe('a bucket that others use too', () => {
  test('keeps what is not of the store', async () => {
    const { bucket, open } = await world()
    const sha256 = sha256Of('another')
    const foreign = [
      'notes.txt',
      'ab/cd/short',
      `ab/cd/${sha256}`,
      keyOf(sha256).toUpperCase(),
      `copy/${keyOf(sha256)}`,
      `${keyOf(sha256)}.bak`,
      `doomed/${sha256}/${'0'.repeat(16)}`,
    ].sort()
    for (const key of foreign) await bucket.write(key, 'theirs')
    const store = await open('')
    const { sha256: ours } = await store.put(source(bytesOf(100)), Infinity)
    expect((await all(store)).map((each) => each.sha256)).toEqual([ours])
    await bucket.age(keyOf(ours), 0)
    expect(await store.remove(ours, Date.now())).toBe(true)
    expect(await bucket.objects()).toEqual(foreign)
  })

  test('has a store for each prefix', async () => {
    const { bucket, open } = await world()
    const stores = [await open(''), await open('a'), await open('a/b'), await open('ab')]
    const contents = stores.map((_, index) => bytesOf(1_000, index + 1))
    for (const [index, store] of stores.entries()) await store.put(source(contents[index]!), Infinity)
    for (const [index, store] of stores.entries()) {
      const sha256 = sha256Of(contents[index]!)
      expect(await all(store)).toMatchObject([{ sha256, size: 1_000 }])
      expect(await Promise.all(stores.map((each) => each.has(sha256)))).toEqual(stores.map((each) => each === store))
    }
    const names = ['', 'a/', 'a/b/', 'ab/'].map((prefix, index) => prefix + keyOf(sha256Of(contents[index]!)))
    expect(await bucket.objects()).toEqual(names.sort())
  })

  test('is listed page after page', async () => {
    const { bucket, line, store } = await world({ page: 7 })
    const hashes = Array.from({ length: 21 }, (_, index) => sha256Of(String(index))).sort()
    for (const sha256 of hashes) await bucket.write(keyOf(sha256), 'some')
    expect((await all(store)).map(({ sha256 }) => sha256)).toEqual(hashes)
    expect(line.asked).toHaveLength(3)
  })

  test('is listed on where a page is not given at once', async () => {
    const { bucket, line, store } = await world({ page: 2 })
    for (let index = 0; index < 5; index += 1) await bucket.write(keyOf(sha256Of(String(index))), 'some')
    line.decide(({ index }) => (index % 2 ? { answer: { status: 503, code: 'SlowDown' } } : undefined))
    expect(await all(store)).toHaveLength(5)
    line.decide(() => ({ cutAnswerAfter: 10 }))
    await expect(all(store)).rejects.toThrow(Busy)
  })
})
