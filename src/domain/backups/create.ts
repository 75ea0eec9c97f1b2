import { MINUTE } from '../../base/clock.ts'
import { putRecord } from '../../storage/instance/backup-records.ts'
import { censusOf } from '../../storage/backups/census.ts'
import type { Manifest } from '../../storage/backups/manifest.ts'
import { lengthOf, makeScratch, piecesOf } from '../../storage/backups/scratch.ts'
import type { BackupSink } from '../../storage/backups/source.ts'
import { readUntil, type BlobStore } from '../../storage/contents/blobs/blobs.ts'
import { holdCollector, standingHolds } from '../../storage/contents/collector-holds.ts'
import type { ChangeWatch } from '../../storage/engine/database.ts'
import { transientTables } from '../../storage/instance/restored.ts'
import { openCopy } from '../../storage/engine/sqlite-copy.ts'
import type { JobContext } from './job-context.ts'
import { draftOf } from './draft.ts'
import type { CreateParts } from './parts.ts'
import { note, repeat } from './repeat.ts'

/** The collector's hold is renewed this often, ms. */
const RENEW_EVERY = MINUTE

/** A backup that was made. */
export interface Created {
  manifest: Manifest
  place: string
  encrypted: boolean
  took_ms: number
  /** Whether the database was as the backup before shows it, so that nothing of it was read again. */
  unchanged: boolean
}

/** Waits for two at once, and for both also when one fails: what they work on is cleared away afterwards. */
async function both<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}

/** Makes one backup: the database as it is at one moment first, then the contents it names, which only grow. */
async function make(
  parts: CreateParts,
  watch: ChangeWatch,
  sink: BackupSink,
  { progress, signal }: JobContext,
): Promise<Manifest> {
  const { database, clock } = parts
  const hold = await holdCollector(watch)
  let lost: Error | undefined
  const timer = setInterval(
    () => void hold.renew().catch((error: unknown) => void (lost = error as Error)),
    RENEW_EVERY,
  )
  timer.unref()
  const scratch = await makeScratch(parts.scratch, hold.id, await standingHolds(database.read))
  const stored = (bytes: number): void => {
    signal?.throwIfAborted()
    if (lost) throw lost
    progress?.add(bytes)
  }
  try {
    const now = clock.now()
    await database.copyTo(scratch.file, { without: transientTables, progress: () => signal?.throwIfAborted() })
    const copy = openCopy(scratch.file)
    const census = await censusOf(copy.at).finally(() => copy.close())
    progress?.total((await lengthOf(scratch.file)) + census.blobs.reduce((sum, { size }) => sum + size, 0))
    const [missing, pieces] = await both(sink.takeBlobs(census.blobs, stored), piecesOf(scratch.file))
    // What was copied is whole only if the collector was kept away all the time.
    await hold.renew()
    const gathered = { census, missing, database: pieces, installation: await parts.installation() }
    return await sink.finish(draftOf(parts, now, scratch.file, gathered), stored)
  } finally {
    clearInterval(timer)
    await scratch.clear()
    await hold.release()
  }
}

/** Where a backup is to go. */
export interface Target {
  place: string
  encrypted: boolean
  open(blobs: BlobStore): Promise<BackupSink>
}

/** Makes backups and keeps a record of how that went, also of a target that cannot be opened. */
export const makeCreate = (parts: CreateParts) => {
  const { database, clock, audit } = parts

  async function create({ place, encrypted, open }: Target, job: JobContext): Promise<Created> {
    const start = clock.now()
    const where = { place, encrypted }
    const watch = database.watch()
    const sink = await open(readUntil(parts.blobs, job.signal))
    let again: Manifest | undefined
    let manifest: Manifest
    try {
      again = await repeat(parts, sink, job)
      manifest = again ?? (await make(parts, watch, sink, job))
    } finally {
      await sink.close()
    }
    const took_ms = clock.now() - start
    const { id, totals, added, missing } = manifest
    await watch.write(async (tx) => {
      await putRecord(tx, 'done', { id, at: clock.now(), ...where })
      const detail = { id, ...where, bytes: totals.bytes, added_bytes: added.bytes, missing: missing.length }
      await audit.record(tx, { kind: 'backup.created', detail })
    })
    await note(parts, watch, sink, manifest)
    return { manifest, ...where, took_ms, unchanged: again !== undefined }
  }

  return async (target: Target, job: JobContext = {}): Promise<Created> => {
    try {
      return await create(target, job)
    } catch (error) {
      job.signal?.throwIfAborted()
      const { place, encrypted } = target
      const message = (error as Error).message
      // A disk that is full may have no room for this either: then the first failure is the one to tell.
      await database
        .write(async (tx) => {
          await putRecord(tx, 'failed', { at: clock.now(), message, place, encrypted })
          await audit.record(tx, { kind: 'backup.failed', detail: { message, place, encrypted } })
        })
        .catch(() => undefined)
      throw error
    }
  }
}
