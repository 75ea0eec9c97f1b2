import { MINUTE } from '../../base/clock.ts'
import { problemText } from '../../base/errors.ts'
import { putRecord } from '../../storage/instance/backup-records.ts'
import { censusOf } from '../../storage/backups/census.ts'
import type { Manifest } from '../../storage/backups/backup-manifest.ts'
import { lengthOf, makeScratch, piecesOf } from '../../storage/backups/scratch.ts'
import type { BackupSink } from '../../storage/backups/source.ts'
import { readUntil, type BlobStore } from '../../storage/contents/blobs/blobs.ts'
import { holdCollector, currentHolds } from '../../storage/contents/collector-holds.ts'
import type { ChangeWatch } from '../../storage/engine/database.ts'
import { transientTables } from '../../storage/instance/restored.ts'
import { openCopy } from '../../storage/engine/sqlite-copy.ts'
import type { JobContext } from './job-context.ts'
import { draftManifest } from './manifest-draft.ts'
import type { BackupContext } from './backup-context.ts'
import { recordState, repeatBackup } from './unchanged-backup.ts'

/** Interval at which the collector's hold is renewed, ms. */
const RENEW_EVERY = MINUTE

export interface Created {
  manifest: Manifest
  place: string
  encrypted: boolean
  took_ms: number
  /** Objects of earlier backups that were damaged or missing, and were stored again. */
  repaired: number
  /** What else is damaged in the destination. */
  problem?: string | undefined
  /** Whether the database equals the previous backup, so that it was not read unchanged. */
  unchanged: boolean
}

/** Like `Promise.all`, but waits for bothSettled even if one fails: their scratch folder is removed afterwards. */
async function bothSettled<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}

/** Creates a full backup: first a snapshot of the database, then the contents it references, which are never changed. */
async function make(
  context: BackupContext,
  watch: ChangeWatch,
  sink: BackupSink,
  { progress, signal }: JobContext,
): Promise<Manifest> {
  const { database, clock } = context
  const hold = await holdCollector(watch)
  let lost: Error | undefined
  const timer = setInterval(
    () => void hold.renew().catch((error: unknown) => void (lost = error as Error)),
    RENEW_EVERY,
  )
  timer.unref()
  const scratch = await makeScratch(context.scratch, hold.id, await currentHolds(database.read))
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
    const [missing, pieces] = await bothSettled(sink.takeBlobs(census.blobs, stored), piecesOf(scratch.file))
    // The copy is complete only if the hold was never lost.
    await hold.renew()
    const contents = { census, missing, database: pieces, installation: await context.installation() }
    return await sink.finish(draftManifest(context, now, scratch.file, contents), stored)
  } finally {
    clearInterval(timer)
    await scratch.clear()
    await hold.release()
  }
}

/** The destination of a backup. */
export interface Target {
  place: string
  encrypted: boolean
  /** What is damaged there and does not prevent a backup. */
  problem?: string | undefined
  open(blobs: BlobStore): Promise<BackupSink>
}

/** Creates backups and records success or failure, including a destination that cannot be opened. */
export const makeCreate = (context: BackupContext, scheduledPlace: () => Promise<string | undefined>) => {
  const { database, clock, audit } = context

  async function create({ place, encrypted, problem, open }: Target, job: JobContext): Promise<Created> {
    const start = clock.now()
    const where = { place, encrypted }
    const watch = database.watch()
    const sink = await open(readUntil(context.blobs, job.signal))
    let unchanged: Manifest | undefined
    let manifest: Manifest
    try {
      unchanged = await repeatBackup(context, sink, job)
      manifest = unchanged ?? (await make(context, watch, sink, job))
    } finally {
      await sink.close()
    }
    const took_ms = clock.now() - start
    const repaired = sink.repaired()
    const { id, totals, added, missing } = manifest
    const scheduled = await scheduledPlace()
    await watch.write('instance', async (tx) => {
      await putRecord(tx, 'done', { id, at: clock.now(), ...where })
      if (place === scheduled) await putRecord(tx, 'scheduled', { id, at: clock.now(), ...where })
      if (place === (scheduled ?? place)) await putRecord(tx, 'failed', undefined)
      const sizes = { bytes: totals.bytes, added_bytes: added.bytes }
      const detail = { id, ...where, ...sizes, missing: missing.length, ...(repaired > 0 ? { repaired } : {}) }
      await audit.record(tx, { kind: 'backup.created', detail })
    })
    await recordState(context, watch, sink, manifest)
    return { manifest, ...where, took_ms, repaired, problem, unchanged: unchanged !== undefined }
  }

  return async (target: Target, job: JobContext = {}): Promise<Created> => {
    try {
      return await create(target, job)
    } catch (error) {
      job.signal?.throwIfAborted()
      const { place, encrypted } = target
      const message = problemText(error)
      const scheduled = await scheduledPlace()
      // A full disk may also prevent this record; then the first error is reported.
      await database
        .write('instance', async (tx) => {
          if (place === (scheduled ?? place))
            await putRecord(tx, 'failed', { at: clock.now(), message, place, encrypted })
          await audit.record(tx, { kind: 'backup.failed', detail: { message, place, encrypted } })
        })
        .catch(() => undefined)
      throw error
    }
  }
}
