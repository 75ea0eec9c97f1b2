import { DAY } from '../../base/clock.ts'
import { compact } from '../../storage/feed/changes.ts'
import { collectorIsHeld } from '../../storage/contents/collector-holds.ts'
import { inSlices } from '../../storage/engine/slices.ts'
import { forgettable, removable } from '../../storage/contents/unreferenced.ts'
import { ClockInDoubt, noteRun } from './clock-jump.ts'
import { forgetMessageDeletions } from './message-deletions.ts'
import { CONTENT_GRACE, type UpkeepParts } from './upkeep.ts'

export interface Collected {
  /** Trash entries and versions past their retention. */
  trash: number
  versions: number
  contents: number
  bytes: number
  /** Blobs left by interrupted uploads, and their bytes. */
  blobs: number
  blob_bytes: number
  /** Whether a running backup holds the collector. */
  held: boolean
  /** With `dryRun`: why the collector would refuse without confirmation. */
  refusal?: string
}

export interface Forgotten {
  tombstones: number
  /** Records of deleted messages for pollers. */
  messages: number
}

export interface Cleanup {
  /**
   * Removes history past its retention and unreferenced contents that are older than `grace` ms, at least a day. Throws
   * `CollectorRefused` if the amount is out of proportion and exceeds `confirmed`, and `ClockInDoubt`.
   */
  collect(options?: { dryRun?: boolean; grace?: number; confirmed?: number }): Promise<Collected>
  /** Deletes tombstones past their retention. Throws `ClockInDoubt`. */
  compact(options?: { dryRun?: boolean }): Promise<Forgotten>
  /** Returns free database pages to the disk (VACUUM); blocks writers. Returns bytes before and after. */
  shrink(): Promise<{ before: number; after: number }>
}

/** Maintenance on demand. */
export function makeCleanup({ database, contents, history, clock, settings }: UpkeepParts): Cleanup {
  async function assertClock(now: number): Promise<void> {
    const jump = await noteRun(database, now)
    if (jump) throw new ClockInDoubt(jump)
  }

  return {
    async collect({ dryRun = false, grace = CONTENT_GRACE, confirmed } = {}) {
      const now = clock.now()
      const kept = now - (await settings.values())['retention.versions_days'] * DAY
      const touched = now - Math.max(grace, CONTENT_GRACE)
      const held = await collectorIsHeld(database.read)
      const none = { blobs: 0, bytes: 0, refusal: undefined }
      const { blobs, bytes: blob_bytes, refusal } = held ? none : await contents.orphans(touched)
      if (dryRun) {
        const found = await database.snapshot((at) => removable(at, { kept, touched }))
        const said = refusal === undefined ? {} : { refusal }
        return { ...found, ...(held && { contents: 0, bytes: 0 }), blobs, blob_bytes, held, ...said }
      }
      if (confirmed === undefined) await assertClock(now)
      const purged = { trash: await history.forgetTrash(kept), versions: await history.forgetVersions(kept) }
      return { ...purged, ...(await contents.collect(touched, confirmed)), blobs, blob_bytes, held }
    },

    async compact({ dryRun = false } = {}) {
      const before = clock.now() - (await settings.values())['retention.tombstones_days'] * DAY
      if (dryRun) return database.snapshot((at) => forgettable(at, before))
      await assertClock(clock.now())
      return {
        tombstones: await inSlices(database, (tx, limit) => compact(tx, before, limit)),
        messages: await forgetMessageDeletions(database, before, clock.now()),
      }
    },

    shrink: () => database.vacuum(),
  }
}
