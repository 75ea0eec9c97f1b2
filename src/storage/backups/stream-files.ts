import { mkdir, open, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { iso } from '../../base/clock.ts'
import { errorCode, fromSystemError } from '../../base/errors.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { DamagedBackup, MAX_MANIFEST, newId, parseManifest, type Manifest } from './backup-manifest.ts'
import { putBytes } from './bucket.ts'
import { namesIn, openBytes, readAll, type OpenFile } from './file-bytes.ts'
import { bytesAtHand, poolKeys } from './object-pool.ts'
import { removeStoredFolder, storeNew } from './repository-files.ts'
import { isBucket, within } from './repository-path.ts'
import { openSealed, seal } from './stream-cipher.ts'
import {
  FILE_HEADER,
  headText,
  newFileHeader,
  parseHead,
  RECORD_HEADER,
  recordSeal,
  type RecordSeal,
  type StreamHead,
} from './stream-record.ts'

// The stream of a repository, in chapters. Each begins with a copy of the whole database, and goes on with what changed:
//
//   stream/<number>-<id>/base.json    what the copy consists of, as the manifest of a backup (`.sealed` when encrypted)
//   stream/<number>-<id>/000001.log   records, one or two a second while something changes
//   stream/locks                      the process that writes

export const STREAM_FOLDER = 'stream'
const CHAPTER = /^(\d{8})-(\d{8}-\d{6}-[0-9a-f]{4})$/
const PART = /^\d{6}\.log$/
/** Size after which the next file begins, bytes. */
const PART_SIZE = 32 << 20
const NO_TAG = Buffer.alloc(16)

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** A copy of the database with everything that was committed since. */
export interface Chapter {
  name: string
  number: number
  /** The id of its base, from the time it was begun. */
  id: string
}

/** A record; `pages` reads its body, which must happen before the next one is asked for. */
export interface StreamRecord {
  head: StreamHead
  pages(): Promise<Map<number, Uint8Array>>
}

/** Chapters in the order in which they were written, whatever the clock said. */
export async function chaptersIn(folder: string): Promise<Chapter[]> {
  const names = (await namesIn(within(folder, STREAM_FOLDER))).filter((name) => CHAPTER.test(name)).sort()
  return names.map((name) => {
    const [, number = '', id = ''] = CHAPTER.exec(name)!
    return { name, number: Number(number), id }
  })
}

export const chapterFolder = (folder: string, { name }: Chapter): string => within(folder, STREAM_FOLDER, name)

const partName = (index: number): string => `${String(index).padStart(6, '0')}.log`

const contextOf = ({ name }: Chapter, part: string): string => `${name}/${part}`

const baseFile = (folder: string, chapter: Chapter, key: Uint8Array | undefined): string =>
  within(chapterFolder(folder, chapter), key ? 'base.sealed' : 'base.json')

/** The base of a chapter; undefined if it was never completed. Throws `DamagedBackup`. */
export async function readBase(
  folder: string,
  chapter: Chapter,
  key: Uint8Array | undefined,
): Promise<Manifest | undefined> {
  const path = baseFile(folder, chapter, key)
  const file = await openBytes(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    if (file.size > MAX_MANIFEST) throw new DamagedBackup(`${path} is too long.`)
    const plain = key ? await openSealed(poolKeys(key).manifest, file, path) : file
    return parseManifest((await readAll(plain.read(0, plain.size))).toString(), chapter.id, path)
  } finally {
    await file.close()
  }
}

/** Stores the base of a chapter, flushed when it resolves. Throws EEXIST if it has one. */
export async function storeBase(
  folder: string,
  chapter: Chapter,
  manifest: Manifest,
  key: Uint8Array | undefined,
): Promise<void> {
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`)
  const content = key ? await readAll(seal(poolKeys(key).manifest, bytesAtHand(text).read())) : text
  await storeNew(baseFile(folder, chapter, key), content)
}

export const removeChapter = (folder: string, chapter: Chapter): Promise<void> =>
  removeStoredFolder(chapterFolder(folder, chapter))

const bytesOf = (file: OpenFile, start: number, length: number): Promise<Buffer> =>
  readAll(file.read(start, start + length))

/** Parts of a bucket, which are small and far away, are opened some time before they are read. */
const AHEAD = 16

function readAhead(paths: readonly string[]): (index: number) => Promise<OpenFile> {
  const pending = new Map<number, Promise<OpenFile>>()
  return async (index) => {
    const path = paths[index]!
    if (!isBucket(path)) return openBytes(path)
    for (let next = index; next < Math.min(index + AHEAD, paths.length); next += 1) {
      if (pending.has(next)) continue
      const opening = openBytes(paths[next]!)
      opening.catch(() => undefined)
      pending.set(next, opening)
    }
    const file = await pending.get(index)!
    pending.delete(index)
    return file
  }
}

/**
 * The records of a chapter, in order. Ends at the last complete one: a process that was killed leaves a part of the next.
 * Throws `DamagedBackup` where one was changed, is missing or does not belong there; it names the file and the last good moment.
 */
export async function* recordsOf(
  folder: string,
  chapter: Chapter,
  key: Uint8Array | undefined,
): AsyncGenerator<StreamRecord> {
  const place = chapterFolder(folder, chapter)
  const parts = (await namesIn(place)).filter((name) => PART.test(name)).sort()
  let tag: Uint8Array = NO_TAG
  let good: number | undefined
  let path = within(place, partName(1))
  const located = (error: unknown): unknown => {
    if (!(error instanceof DamagedBackup)) return error
    const since = good === undefined ? 'from its beginning' : `after ${iso(good)}`
    return new DamagedBackup(`The stream is damaged ${since}, in ${path}: ${error.message}.`, { cause: error })
  }
  const opened = readAhead(parts.map((part) => within(place, part)))
  try {
    for (const [index, part] of parts.entries()) {
      if (part !== partName(index + 1)) throw new DamagedBackup(`${partName(index + 1)} is missing before it`)
      path = within(place, part)
      const file = await opened(index)
      try {
        if (file.size < FILE_HEADER) {
          if (index < parts.length - 1) throw new DamagedBackup('it is cut off')
          return
        }
        const opener = recordSeal(key, await bytesOf(file, 0, FILE_HEADER), contextOf(chapter, part), tag)
        for await (const record of recordsIn(file, opener, index === parts.length - 1)) {
          yield {
            ...record,
            pages: () => record.pages().catch((error: unknown) => Promise.reject(located(error) as Error)),
          }
          good = record.head.at
        }
        tag = opener.last()
      } finally {
        await file.close()
      }
    }
  } catch (error) {
    throw located(error)
  }
}

async function* recordsIn(file: OpenFile, opener: RecordSeal, isLast: boolean): AsyncGenerator<StreamRecord> {
  for (let at = FILE_HEADER; at < file.size;) {
    const rest = file.size - at
    const header = rest < RECORD_HEADER ? undefined : await bytesOf(file, at, RECORD_HEADER)
    const lengths = header && opener.lengths(header)
    if (!header || !lengths || rest < RECORD_HEADER + lengths.head + lengths.body) {
      if (isLast) return
      throw new DamagedBackup('it is cut off')
    }
    const bodyAt = at + RECORD_HEADER + lengths.head
    const head = parseHead(opener.openHead(header, await bytesOf(file, at + RECORD_HEADER, lengths.head)))
    let isRead = false
    yield {
      head,
      async pages() {
        isRead = true
        return pagesOf(head, opener.openBody(await bytesOf(file, bodyAt, lengths.body)))
      },
    }
    at = bodyAt + lengths.body
    if (!isRead) opener.skipBody(await bytesOf(file, at - NO_TAG.length, NO_TAG.length))
  }
}

async function pagesOf({ pages }: StreamHead, body: Buffer): Promise<Map<number, Uint8Array>> {
  const plain = pages.length === 0 ? body : await inflate(body)
  const size = pages.length === 0 ? 0 : plain.length / pages.length
  if (!Number.isInteger(size)) throw new DamagedBackup('its pages are not whole')
  return new Map(pages.map((page, index) => [page, plain.subarray(index * size, (index + 1) * size)]))
}

/** Appends records to a new chapter. */
export interface ChapterWriter {
  chapter: Chapter
  /** Resolves when the record is on the disk. After an error, call `recover` first. */
  append(head: Omit<StreamHead, 'pages'>, pages: ReadonlyMap<number, Uint8Array>): Promise<void>
  /** Removes what a failed append may have left. Throws while the place cannot be written. */
  recover(): Promise<void>
  /** Bytes written. */
  size(): number
  close(): Promise<void>
}

const recordOf = async (
  head: Omit<StreamHead, 'pages'>,
  pages: ReadonlyMap<number, Uint8Array>,
): Promise<[head: Buffer, body: Buffer]> => [
  headText({ ...head, pages: [...pages.keys()] }),
  pages.size === 0 ? Buffer.alloc(0) : await deflate(Buffer.concat([...pages.values()]), { level: 1 }),
]

/** Each record is an object, because none can be appended to. One whose fate is unknown is replaced by the next. */
function bucketChapter(place: string, chapter: Chapter, key: Uint8Array | undefined): ChapterWriter {
  let index = 0
  let total = 0
  let tag: Uint8Array = NO_TAG
  return {
    chapter,
    async append(head, pages) {
      const name = partName(index + 1)
      const header = newFileHeader()
      const own = recordSeal(key, header, contextOf(chapter, name), tag)
      const part = Buffer.concat([header, own.seal(...(await recordOf(head, pages)))])
      await putBytes(within(place, name), part)
      index += 1
      total += part.length
      tag = own.last()
    },
    recover: () => Promise.resolve(),
    size: () => total,
    close: () => Promise.resolve(),
  }
}

/** Begins the next chapter of a stream, in a new folder. */
export async function beginChapter(folder: string, key: Uint8Array | undefined, now: number): Promise<ChapterWriter> {
  const number = ((await chaptersIn(folder)).at(-1)?.number ?? 0) + 1
  const id = newId(now)
  const chapter = { name: `${String(number).padStart(8, '0')}-${id}`, number, id }
  const place = chapterFolder(folder, chapter)
  if (isBucket(folder)) return bucketChapter(place, chapter, key)
  let index = 0
  let total = 0
  let part: { file: FileHandle; path: string; seal: RecordSeal; end: number } | undefined
  let tag: Uint8Array = NO_TAG

  async function beginPart(): Promise<NonNullable<typeof part>> {
    await part?.file.close()
    part = undefined
    const header = newFileHeader()
    const name = partName(index + 1)
    const path = join(place, name)
    // A failed attempt may have left it.
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(header)
      await file.sync()
      await syncFolder(place)
    } catch (error) {
      await file.close()
      throw error
    }
    index += 1
    const seal = recordSeal(key, header, contextOf(chapter, name), tag)
    return (part = { file, path, seal, end: header.length })
  }

  /** A folder that was unmounted keeps its open files, so that writing to them proves nothing. */
  async function assertInPlace({ file, path }: NonNullable<typeof part>): Promise<void> {
    const [opened, found] = [await file.stat(), await stat(path)]
    if (opened.ino !== found.ino || opened.dev !== found.dev)
      throw new Error(`${path} was replaced while the stream was writing to it.`)
  }

  await mkdir(place, { recursive: true, mode: 0o700 })
  await syncFolder(join(folder, STREAM_FOLDER))
  return {
    chapter,
    async append(head, pages) {
      const [text, body] = await recordOf(head, pages)
      try {
        const into = part && part.end < PART_SIZE ? part : await beginPart()
        const record = into.seal.seal(text, body)
        await into.file.writeFile(record)
        await into.file.datasync()
        await assertInPlace(into)
        into.end += record.length
        total += record.length
        tag = into.seal.last()
      } catch (error) {
        throw fromSystemError(error, folder)
      }
    },
    async recover() {
      if (!part) return
      const { path, end } = part
      await part.file.close().catch(() => undefined)
      const file = await open(path, 'r+')
      try {
        if ((await file.stat()).size < end) throw new DamagedBackup(`${path} is cut off.`)
        await file.truncate(end)
        await file.sync()
      } finally {
        await file.close()
      }
      // The next record must not be sealed under the same key and counter as one that failed.
      part = undefined
    },
    size: () => total,
    async close() {
      await part?.file.close().catch(() => undefined)
      part = undefined
    },
  }
}

/** Removes chapters whose base was never completed, other than the newest. */
export async function removeIncomplete(folder: string): Promise<void> {
  for (const chapter of await chaptersIn(folder)) {
    const names = await namesIn(chapterFolder(folder, chapter))
    if (!names.some((name) => name.startsWith('base.') && !name.endsWith('.tmp'))) await removeChapter(folder, chapter)
  }
}
