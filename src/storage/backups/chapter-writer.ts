import { mkdir, open, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import { fromSystemError } from '../../base/errors.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { DamagedBackup, newId } from './backup-manifest.ts'
import { putBytes } from './bucket.ts'
import { isBucket, within } from './repository-path.ts'
import { chapterFolder, chaptersIn, contextOf, NO_TAG, partName, STREAM_FOLDER, type Chapter } from './stream-files.ts'
import { headText, newFileHeader, recordSeal, type RecordSeal, type StreamHead } from './stream-record.ts'

/** Size after which the next file begins, bytes. */
const PART_SIZE = 32 << 20

const deflate = promisify(deflateRaw)

/** Appends records to a new chapter. */
export interface ChapterWriter {
  chapter: Chapter
  /** Resolves when the record is on the disk. After an error, call `recover` first. */
  append(head: Omit<StreamHead, 'pages'>, pages: ReadonlyMap<number, Uint8Array>): Promise<void>
  /** Removes what a failed append may have left. Throws while the place cannot be written. */
  recover(): Promise<void>
  /** The tag of its last record, in hex. */
  end(): string
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
      tag = own.last()
    },
    recover: () => Promise.resolve(),
    end: () => Buffer.from(tag).toString('hex'),
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
    end: () => Buffer.from(tag).toString('hex'),
    async close() {
      await part?.file.close().catch(() => undefined)
      part = undefined
    },
  }
}
