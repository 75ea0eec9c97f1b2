import { join } from 'node:path'
import pLimit from 'p-limit'
import { DAY, MINUTE, systemClock } from '../../base/clock.ts'
import { makeFolder } from '../../host/folder-creation.ts'
import type { BlobStore } from '../contents/blobs/blobs.ts'
import { DamagedBackup, idTime, type Piece } from './backup-manifest.ts'
import { RemovalDenied } from './bucket.ts'
import { endChapters } from './chapter-ends.ts'
import { beginChapter, type ChapterWriter } from './chapter-writer.ts'
import { lockRepository, type RepositoryLock } from './lock.ts'
import { bytesAtHand, openPool, poolKeys, type ObjectPool } from './object-pool.ts'
import { BadRepository, fromStore, repositoryAt, type RepositoryHeader } from './repository.ts'
import {
  addEnds,
  chapterFolder,
  chaptersIn,
  hasBase,
  recordsOf,
  removeChapter,
  removeIncomplete,
  storeBase,
  STREAM_FOLDER,
  type Chapter,
} from './stream-files.ts'
import type { Manifest } from './backup-manifest.ts'
import { isBucket, within } from './repository-path.ts'
import { baseObjects } from './stream-verification.ts'

/** Adds objects to the repository of a stream. */
export interface ObjectWriter {
  /** Stores contents of the blob store. Returns those that cannot be read there. */
  contents(pieces: readonly Piece[]): Promise<Set<string>>
  data(piece: Piece, data: Uint8Array): Promise<void>
}

/** A repository that a stream writes to. */
export interface StreamTarget {
  readonly place: string
  /** Throws while the repository is not where it was; `LostLock` if another process may have taken over its stream. */
  assertThere(): Promise<void>
  /** Takes over the stream again after `LostLock`. Throws `RepositoryBusy`. */
  takeOver(): Promise<void>
  begin(): Promise<ChapterWriter>
  /** Ends the chapters other than the one that is written. Returns their last tags, by name and in hex. */
  endEarlier(current: Chapter | undefined): Promise<Record<string, string>>
  storeBase(chapter: Chapter, manifest: Manifest): Promise<void>
  /** Runs `work` while nobody removes objects; what it adds is durable afterwards, and stays if `work` also refers to it. */
  adding<T>(work: (objects: ObjectWriter) => Promise<T>): Promise<T>
  /** Removes old chapters. A wrong clock removes none of the newest `days` and one. */
  removeOld(days: number, now: number): Promise<void>
  close(): Promise<void>
}

/** Objects stored at the same time. */
const WIDTH = 4

async function objectWriter(pool: ObjectPool, blobs: BlobStore): Promise<ObjectWriter> {
  return {
    async contents(pieces) {
      const missing = new Set<string>()
      await pool.find(pieces)
      const limit = pLimit(WIDTH)
      const ends = await Promise.allSettled(
        pieces.map((piece) =>
          limit(async () => {
            if ((await pool.add(piece, fromStore(blobs, piece.sha256))) === 'missing') missing.add(piece.sha256)
          }),
        ),
      )
      for (const end of ends) if (end.status === 'rejected') throw end.reason as Error
      return missing
    },
    async data(piece, data) {
      await pool.find([piece])
      await pool.add(piece, bytesAtHand(data))
    },
  }
}

/** Takes over the stream of a repository. Throws `RepositoryBusy` while another process writes it. */
export async function openStreamTarget(
  folder: string,
  header: RepositoryHeader,
  key: Uint8Array | undefined,
  blobs: BlobStore,
): Promise<StreamTarget> {
  const keys = key && poolKeys(key)
  if (!isBucket(folder)) await makeFolder(join(folder, STREAM_FOLDER), 0o700)
  async function takeOver(): Promise<RepositoryLock> {
    const lock = await lockRepository(within(folder, STREAM_FOLDER, 'locks'), 'exclusive', 'svc backup stream')
    await removeIncomplete(folder).catch(ignoreDenied)
    return lock
  }
  let own = await takeOver()
  let lookedAt = -Infinity
  return {
    place: folder,
    async assertThere() {
      // A request to a bucket that is gone fails by itself, and each one costs time and money.
      if (isBucket(folder) && performance.now() - lookedAt < MINUTE) return own.assertHeld()
      lookedAt = performance.now()
      const found = await repositoryAt(folder)
      if (found?.repository !== header.repository)
        throw new BadRepository(
          `The backups that were in ${folder} are gone${isBucket(folder) ? '.' : ': is the disk mounted?'}`,
          8,
        )
      await own.assertHeld()
    },
    async takeOver() {
      await own.release().catch(() => undefined)
      own = await takeOver()
    },
    begin: () => beginChapter(folder, key, systemClock.now()),
    endEarlier: (current) => endChapters(folder, key, current),
    storeBase: (chapter, manifest) => storeBase(folder, chapter, manifest, key),
    async adding(work) {
      const lock = await lockRepository(within(folder, 'locks'), 'shared', 'svc backup stream')
      try {
        const pool = openPool(folder, keys, { lock: lock.id })
        if (!isBucket(folder)) await makeFolder(join(folder, 'tmp'), 0o700)
        const writer = await objectWriter(pool, blobs)
        const value = await work(writer)
        await pool.settle(false)
        await lock.assertHeld()
        return value
      } finally {
        await lock.release()
      }
    },
    async removeOld(days, now) {
      for (const chapter of await oldChapters(folder, days, now))
        await removeChapter(folder, chapter).catch(ignoreDenied)
    },
    close: () => own.release(),
  }
}

/** The chapters that are not needed for the last days. A wrong clock never makes one of the newest `days` and one old. */
export async function oldChapters(folder: string, days: number, now: number): Promise<Chapter[]> {
  const chapters = await chaptersIn(folder)
  const begun = idTime(now - days * DAY)
  const old = chapters.slice(0, -(days + 1))
  const first = old.findIndex((_, index) => chapters[index + 1]!.id.slice(0, begun.length) >= begun)
  return first < 0 ? old : old.slice(0, first)
}

/** A key that may not remove anything is no reason to end a stream. */
function ignoreDenied(error: unknown): void {
  if (!(error instanceof RemovalDenied)) throw error
}

/**
 * The objects that the stream of a repository needs without some chapters, and what is damaged there. Chapters that get
 * no more records are added to `finished`, and not read again.
 */
export async function streamObjects(
  folder: string,
  key: Uint8Array | undefined,
  without: readonly Chapter[],
  finished = new Map<string, readonly Piece[]>(),
): Promise<{ objects: Piece[]; damaged: { id: string; what: string }[] }> {
  const pool = openPool(folder, key && poolKeys(key))
  const objects: Piece[] = []
  const damaged: { id: string; what: string }[] = []
  const old = new Set(without.map(({ name }) => name))
  const ends: Record<string, string> = {}
  /** Whether a later chapter has taken over. */
  let isFinished = false
  for (const chapter of (await chaptersIn(folder)).filter(({ name }) => !old.has(name)).reverse()) {
    const found: Piece[] = [...(finished.get(chapter.name) ?? [])]
    let completes: boolean = isFinished
    try {
      if (!finished.has(chapter.name)) {
        let isNeeded = await hasBase(folder, chapter)
        for await (const { head } of recordsOf(folder, chapter, key, ends[chapter.name])) {
          for (const piece of head.blobs) found.push(piece)
          addEnds(ends, head)
          completes ||= head.completes
          isNeeded ||= head.completes
        }
        const base = isNeeded ? await baseObjects({ folder, key, pool }, chapter) : undefined
        for (const piece of base?.objects ?? []) found.push(piece)
        if (isFinished) finished.set(chapter.name, found)
      }
    } catch (error) {
      if (!(error instanceof DamagedBackup)) throw error
      damaged.push({ id: chapterFolder(folder, chapter), what: error.message })
    }
    for (const piece of found) objects.push(piece)
    isFinished = completes
  }
  return { objects, damaged: damaged.reverse() }
}
