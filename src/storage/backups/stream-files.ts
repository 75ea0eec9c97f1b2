import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { iso } from '../../base/clock.ts'
import { errorCode } from '../../base/errors.ts'
import { DamagedBackup, MAX_MANIFEST, parseManifest, type Manifest } from './backup-manifest.ts'
import { namesIn, openBytes, readAll, type OpenFile } from './file-bytes.ts'
import { bytesAtHand, poolKeys } from './object-pool.ts'
import { removeStoredFolder, storeNew } from './repository-files.ts'
import { isBucket, within } from './repository-path.ts'
import { openSealed, seal } from './stream-cipher.ts'
import { FILE_HEADER, parseHead, recordSeal, TAG, type RecordSeal, type StreamHead } from './stream-record.ts'

// The stream of a repository, in chapters. Each begins with a copy of the whole database, and goes on with what changed:
//
//   stream/<number>-<id>/base.json    what the copy consists of, as the manifest of a backup (`.sealed` when encrypted)
//   stream/<number>-<id>/000001.log   records, one or two a second while something changes
//   stream/locks                      the process that writes

export const STREAM_FOLDER = 'stream'
const CHAPTER = /^(\d{8})-(\d{8}-\d{6}-[0-9a-f]{4})$/
const PART = /^\d{6}\.log$/
/** What the first record of a chapter continues. */
export const NO_TAG = Buffer.alloc(TAG)

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

/** A record in its file. */
interface PlacedRecord extends StreamRecord {
  /** Its last tag, which the next one proves to be right. */
  tag: Buffer
  /** Where it ends. */
  end: number
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

export const partName = (index: number): string => `${String(index).padStart(6, '0')}.log`

export const contextOf = ({ name }: Chapter, part: string): string => `${name}/${part}`

const baseFile = (folder: string, chapter: Chapter, key: Uint8Array | undefined): string =>
  within(chapterFolder(folder, chapter), key ? 'base.sealed' : 'base.json')

/** The base of a chapter; undefined if it was never completed. Throws `DamagedBackup`. */
async function readBase(folder: string, chapter: Chapter, key: Uint8Array | undefined): Promise<Manifest | undefined> {
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

/** The base of a chapter that was completed. Throws `DamagedBackup`. */
export async function completeBase(folder: string, chapter: Chapter, key: Uint8Array | undefined): Promise<Manifest> {
  const base = await readBase(folder, chapter, key)
  if (!base) throw new DamagedBackup(`The copy of the database in ${chapterFolder(folder, chapter)} is missing.`)
  return base
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

export const bytesOf = (file: OpenFile, start: number, length: number): Promise<Buffer> =>
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

/** The files of a chapter with records, in order. */
export const partsOf = async (place: string): Promise<string[]> =>
  (await namesIn(place)).filter((name) => PART.test(name)).sort()

/**
 * The records of a chapter, in order. Throws `DamagedBackup` where one was changed, is missing or does not belong there; it
 * names the file and the last good moment. `end` is the last tag of a chapter that is no longer written, in hex. Where it is
 * unknown, a folder may end with a part of a record: the process that writes it may just do so, or was killed.
 */
export async function* recordsOf(
  folder: string,
  chapter: Chapter,
  key: Uint8Array | undefined,
  end?: string,
): AsyncGenerator<StreamRecord> {
  const place = chapterFolder(folder, chapter)
  const parts = await partsOf(place)
  let tag: Uint8Array = NO_TAG
  let isEndReached = end === undefined || end === NO_TAG.toString('hex')
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
      const mayBeTorn = index === parts.length - 1 && !isBucket(folder)
      const file = await opened(index)
      try {
        const opener = await openPart(file, { key, context: contextOf(chapter, part), previous: tag })
        if (!opener && mayBeTorn && end === undefined) break
        if (!opener) throw cutOff()
        const isTornAllowed = mayBeTorn && (end === undefined || !opener.hasSealedLengths)
        for await (const record of recordsIn(file, opener, isTornAllowed)) {
          yield {
            head: record.head,
            pages: () => record.pages().catch((error: unknown) => Promise.reject(located(error) as Error)),
          }
          good = record.head.at
          isEndReached ||= record.tag.toString('hex') === end
        }
        tag = opener.last()
      } finally {
        await file.close()
      }
    }
    if (!isEndReached) throw new DamagedBackup('its end is missing')
  } catch (error) {
    throw located(error)
  }
}

/** Notes the ends of chapters that a record of a later one names. What the newest one says counts. */
export function addEnds(ends: Record<string, string>, head: StreamHead): void {
  for (const [name, end] of Object.entries(head.ends ?? {})) if (CHAPTER.test(name)) ends[name] ??= end
}

const cutOff = (): DamagedBackup => new DamagedBackup('it is cut off')

/** Begins to read a file of records; undefined if it is shorter than its header. Throws `DamagedBackup`. */
export async function openPart(
  file: OpenFile,
  { key, context, previous }: { key: Uint8Array | undefined; context: string; previous: Uint8Array },
): Promise<RecordSeal | undefined> {
  if (file.size < FILE_HEADER) return undefined
  return recordSeal(key, await bytesOf(file, 0, FILE_HEADER), context, previous)
}

/** The records of a file, up to an incomplete one, which is damage unless it is allowed. Throws `DamagedBackup`. */
export async function* recordsIn(
  file: OpenFile,
  opener: RecordSeal,
  isTornAllowed: boolean,
): AsyncGenerator<PlacedRecord> {
  for (let at = FILE_HEADER; at < file.size;) {
    const rest = file.size - at
    const header = rest < opener.header ? undefined : await bytesOf(file, at, opener.header)
    const lengths = header && opener.lengths(header)
    if (!header || !lengths || rest < opener.header + lengths.head + lengths.body) {
      if (isTornAllowed) return
      throw cutOff()
    }
    const headAt = at + opener.header
    const bodyAt = headAt + lengths.head
    const end = bodyAt + lengths.body
    const head = parseHead(opener.openHead(header, await bytesOf(file, headAt, lengths.head)))
    const tag = await bytesOf(file, end - TAG, TAG)
    let isRead = false
    yield {
      head,
      tag,
      end,
      async pages() {
        isRead = true
        return pagesOf(head, opener.openBody(await bytesOf(file, bodyAt, lengths.body)))
      },
    }
    if (!isRead) opener.skipBody(tag)
    at = end
  }
}

async function pagesOf({ pages }: StreamHead, body: Buffer): Promise<Map<number, Uint8Array>> {
  const plain = pages.length === 0 ? body : await inflate(body)
  const size = pages.length === 0 ? 0 : plain.length / pages.length
  if (!Number.isInteger(size)) throw new DamagedBackup('its pages are not whole')
  return new Map(pages.map((page, index) => [page, plain.subarray(index * size, (index + 1) * size)]))
}

/** Whether the base of a chapter was completed. */
export async function hasBase(folder: string, chapter: Chapter): Promise<boolean> {
  const names = await namesIn(chapterFolder(folder, chapter))
  return names.some((name) => name.startsWith('base.') && !name.endsWith('.tmp'))
}

/** Removes chapters whose base was never completed. */
export async function removeIncomplete(folder: string): Promise<void> {
  for (const chapter of await chaptersIn(folder))
    if (!(await hasBase(folder, chapter))) await removeChapter(folder, chapter)
}
