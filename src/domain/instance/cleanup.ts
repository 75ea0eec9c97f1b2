import { DAY, type Clock } from '../../base/clock.ts'
import { compact } from '../../storage/changes.ts'
import { forgetDeletions } from '../../storage/chat-messages.ts'
import { collectorIsHeld } from '../../storage/collector-holds.ts'
import type { Contents } from '../../storage/contents.ts'
import type { Database } from '../../storage/database.ts'
import { purge } from '../../storage/trash.ts'
import { forgettable, removable } from '../../storage/unreferenced.ts'
import type { Settings } from './settings.ts'
import { CONTENT_GRACE } from './upkeep.ts'

/** What was removed, or would be. */
export interface Collected {
  /** Entries of the trash and old versions past their retention. */
  trash: number
  versions: number
  /** Contents that nothing points to any more, and their bytes. */
  contents: number
  bytes: number
  /** Blobs without a content, that interrupted uploads left, and their bytes. */
  blobs: number
  blob_bytes: number
  /** Whether a backup keeps all contents at this moment. */
  held: boolean
}

export interface Forgotten {
  /** Tombstones of feeds. */
  tombstones: number
  /** Notes of deleted messages, for rooms that are polled. */
  messages: number
}

export interface Cleanup {
  /** Removes what is past its retention and contents nothing points to, none younger than `grace` ms, at least a day. */
  collect(options?: { dryRun?: boolean; grace?: number }): Promise<Collected>
  /** Forgets tombstones past their retention. */
  compact(options?: { dryRun?: boolean }): Promise<Forgotten>
  /** Gives room that was freed in the database back to the disk; writers wait meanwhile. Returns bytes before and after. */
  shrink(): Promise<{ before: number; after: number }>
}

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  settings: Settings
}

/** What upkeep does by itself, done now. */
export function makeCleanup({ database, contents, clock, settings }: Parts): Cleanup {
  return {
    async collect({ dryRun = false, grace = CONTENT_GRACE } = {}) {
      const now = clock.now()
      const kept = now - (await settings.values())['retention.versions_days'] * DAY
      const touched = now - Math.max(grace, CONTENT_GRACE)
      const held = await collectorIsHeld(database.read)
      const { blobs, bytes: blob_bytes } = held ? { blobs: 0, bytes: 0 } : await contents.orphans(touched)
      if (dryRun) {
        const found = await database.snapshot((at) => removable(at, { kept, touched }))
        return { ...found, ...(held && { contents: 0, bytes: 0 }), blobs, blob_bytes, held }
      }
      const purged = await database.write((tx) => purge(tx, kept))
      return { ...purged, ...(await contents.collect(touched)), blobs, blob_bytes, held }
    },

    async compact({ dryRun = false } = {}) {
      const before = clock.now() - (await settings.values())['retention.tombstones_days'] * DAY
      if (dryRun) return database.snapshot((at) => forgettable(at, before))
      return database.write(async (tx) => {
        const { messages } = await forgettable(tx, before)
        const tombstones = await compact(tx, before)
        await forgetDeletions(tx, before)
        return { tombstones, messages }
      })
    },

    shrink: () => database.shrink(),
  }
}
