import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Manifest } from '../../../src/storage/backups/backup-manifest.ts'
import { openBucket } from '../../../src/storage/backups/bucket.ts'
import { endChapters } from '../../../src/storage/backups/chapter-ends.ts'
import { beginChapter } from '../../../src/storage/backups/chapter-writer.ts'
import { openBytes, readAll } from '../../../src/storage/backups/file-bytes.ts'
import { removeStored, replaceStored } from '../../../src/storage/backups/repository-files.ts'
import { isBucket, within } from '../../../src/storage/backups/repository-path.ts'
import { chapterFolder, recordsOf, storeBase, type Chapter } from '../../../src/storage/backups/stream-files.ts'
import { FILE_HEADER, RECORD_HEADER } from '../../../src/storage/backups/stream-record.ts'
import { s3Keys, s3OfFile } from '../../support/s3.ts'
import { folderOfTest } from '../../support/server.ts'

const s3 = s3OfFile()
const PAGE = 512
const KEY = Buffer.alloc(32, 7)

const kinds = [
  { kind: 'a folder', inBucket: false, key: undefined },
  { kind: 'an encrypted folder', inBucket: false, key: KEY },
  { kind: 'a bucket', inBucket: true, key: undefined },
  { kind: 'an encrypted bucket', inBucket: true, key: KEY },
]

async function placeOf(inBucket: boolean): Promise<string> {
  if (!inBucket) return folderOfTest()
  const address = (await s3.bucket()).address()
  onTestFinished(openBucket(address, s3Keys))
  return address
}

async function contentOf(path: string): Promise<Buffer> {
  const file = await openBytes(path)
  try {
    return await readAll(file.read(0, file.size))
  } finally {
    await file.close()
  }
}

const pageOf = (number: number): Map<number, Uint8Array> => new Map([[number, Buffer.alloc(PAGE, number)]])

/** A chapter of three records, with the file of the third, and where this begins in it. */
async function chapterOfThree({ inBucket, key }: (typeof kinds)[number]) {
  const folder = await placeOf(inBucket)
  if (!inBucket) await mkdir(join(folder, 'stream'))
  const writer = await beginChapter(folder, key, Date.parse('2026-11-26T14:00:00Z'))
  const { chapter } = writer
  await storeBase(folder, chapter, { format: 1 } as Manifest, key)
  const file = within(chapterFolder(folder, chapter), inBucket ? '000003.log' : '000001.log')
  let at = FILE_HEADER
  for (const number of [1, 2, 3]) {
    if (number === 3 && !inBucket) at = (await contentOf(file)).length
    const head = { at: number, pageCount: 3, blobs: [], missing: [], completes: number === 1 }
    await writer.append(head, pageOf(number))
  }
  await writer.close()
  return { folder, chapter, key, end: writer.end(), file, at, whole: await contentOf(file) }
}

/** The moments that can be read, with their pages. */
async function momentsOf(folder: string, chapter: Chapter, key: Uint8Array | undefined, end?: string) {
  const moments: number[] = []
  for await (const { head, pages } of recordsOf(folder, chapter, key, end)) {
    expect(await pages()).toEqual(pageOf(head.pages[0]!))
    moments.push(head.at)
  }
  return moments
}

for (const kind of kinds)
  test(`in ${kind.kind}, a changed length of a record is damage`, async () => {
    const { folder, chapter, key, file, at, whole } = await chapterOfThree(kind)
    expect(await momentsOf(folder, chapter, key)).toEqual([1, 2, 3])
    for (let offset = at; offset < at + RECORD_HEADER; offset += 1) {
      const changed = Buffer.from(whole)
      changed[offset]! ^= 1
      await replaceStored(file, changed)
      await expect(momentsOf(folder, chapter, key)).rejects.toThrow(
        `The stream is damaged after 1970-01-01T00:00:00.002Z, in ${file}: it was changed`,
      )
    }
  })

for (const kind of kinds)
  test(`in ${kind.kind}, a chapter that another one followed ends where it ended then`, async () => {
    const { folder, chapter, key, end, file, at, whole } = await chapterOfThree(kind)
    const read = () => momentsOf(folder, chapter, key, end)
    expect(await endChapters(folder, key, undefined)).toEqual({ [chapter.name]: end })
    expect(await endChapters(folder, key, chapter)).toEqual({})
    expect(await read()).toEqual([1, 2, 3])
    await replaceStored(file, Buffer.concat([whole, Buffer.alloc(10)]))
    await expect(read()).rejects.toThrow('it is cut off')
    await replaceStored(file, whole.subarray(0, -10))
    await expect(read()).rejects.toThrow('it is cut off')
    await (isBucket(file) ? removeStored([file]) : replaceStored(file, whole.subarray(0, at)))
    await expect(read()).rejects.toThrow('its end is missing')
    await removeStored(['000001.log', '000002.log'].map((part) => within(chapterFolder(folder, chapter), part)))
    await expect(read()).rejects.toThrow('its end is missing')
  })

for (const kind of kinds)
  test(`in ${kind.kind}, an object cut off is damage, a file is only incomplete`, async () => {
    const { folder, chapter, key, file, whole } = await chapterOfThree(kind)
    await replaceStored(file, whole.subarray(0, -10))
    if (kind.inBucket) return expect(momentsOf(folder, chapter, key)).rejects.toThrow('it is cut off')
    expect(await momentsOf(folder, chapter, key)).toEqual([1, 2])
  })

test('what a killed process left of a record is removed when the next chapter begins', async () => {
  for (const kind of kinds.filter(({ inBucket }) => !inBucket)) {
    const { folder, chapter, key, file, at, whole } = await chapterOfThree(kind)
    for (const left of [1, RECORD_HEADER - 1, RECORD_HEADER + 1, whole.length - at - 1]) {
      await writeFile(file, whole.subarray(0, at + left))
      const ends = await endChapters(folder, key, undefined)
      expect(await readFile(file)).toEqual(whole.subarray(0, at))
      expect(await momentsOf(folder, chapter, key, ends[chapter.name])).toEqual([1, 2])
    }
    // And of a file.
    await writeFile(join(file, '..', '000002.log'), 'svc-')
    await endChapters(folder, key, undefined)
    expect((await readdir(join(file, '..'))).filter((name) => name.endsWith('.log'))).toEqual(['000001.log'])
    // What is damaged is left as it is, and no end is known.
    const changed = Buffer.from(whole)
    changed[at]! ^= 1
    await writeFile(file, changed)
    expect(await endChapters(folder, key, undefined)).toEqual({})
    expect(await readFile(file)).toEqual(changed)
  }
})

/** Two records of the version before, in a file of the chapter below. */
const OLD = [
  'c3ZjLXN0cmVhbSAxCgUFBQUFBQUFBQUFBQUFBQUAAABnAAAAGHsiYXQiOjE3OTU3MDE2MDAwMDEsInBhZ2VDb3VudCI6MiwicGFnZXMiOlsxXSwiYmxvYnMiOltdLCJtaXNzaW5nIjpbXSwiY29tcGxldGVzIjp0cnVlfQSOIGF4Kn3sCFafHi9I8jJjZBwFIzkEAMiv/Q8mZJwlXn4IrLX4fJsAAABoAAAAGHsiYXQiOjE3OTU3MDE2MDAwMDIsInBhZ2VDb3VudCI6MiwicGFnZXMiOlsyXSwiYmxvYnMiOltdLCJtaXNzaW5nIjpbXSwiY29tcGxldGVzIjpmYWxzZX385H/tqVyQ9lShLp2iR5gKY2IaBSM5BABaGsrq5rv+jWLIHs6rNit6',
  'c3ZjLXN0cmVhbSAxCgUFBQUFBQUFBQUFBQUFBQUAAABnAAAAGNNcSiKkuplW3yxKWk45vu+kGmbsun4k4pVd5QN8YvOhVVZBcNKzMfkLW7L+s/ZkaDIPzLesE7cxv2OFOcKwOjyjwukxmQ92kIeWLXnYRzIWWHU72+T0kr3ZLXdG8gzkNAnVliRHBOZBwoPdMnn2Z/EoDFV4StnU/hQqq8LG3ZYAAABoAAAAGIp9gwyPVRmLqZzE7mzvBk9he09NyHZCeIydDVwZ44TIi0/CVAKxMw1Qh1cJaDr/nebVtxB8gRXvh1GSIzcDfFZtCGDGVOlTElcIsOOV+LCa1sGyDw1kxeCrOqenaIxqmqdkvrMorZ2mcdJu4FICTABaSECaPv543a9T0a0OPUTq',
] as const

test('records of the version before are read, and what it left is not taken for damage', async () => {
  for (const [index, text] of OLD.entries()) {
    const key = index === 0 ? undefined : KEY
    const folder = await folderOfTest()
    const chapter = { name: '00000001-20261126-140000-a1b2', number: 1, id: '20261126-140000-a1b2' }
    const place = chapterFolder(folder, chapter)
    await mkdir(place, { recursive: true })
    await storeBase(folder, chapter, { format: 1 } as Manifest, key)
    const file = join(place, '000001.log')
    const whole = Buffer.from(text, 'base64')
    await writeFile(file, whole)
    const end = (await endChapters(folder, key, undefined))[chapter.name]
    const moments = await momentsOf(folder, chapter, key, end)
    expect(moments).toHaveLength(2)
    await truncate(file, whole.length - 10)
    expect(await momentsOf(folder, chapter, key)).toEqual(moments.slice(0, 1))
    const cut = await endChapters(folder, key, undefined)
    expect(await readFile(file)).toEqual(whole.subarray(0, -10))
    expect(await momentsOf(folder, chapter, key, cut[chapter.name])).toEqual(moments.slice(0, 1))
    await expect(momentsOf(folder, chapter, key, end)).rejects.toThrow('its end is missing')
  }
})
