import { SECOND } from '../../base/clock.ts'
import { makeSingleFlight } from '../../base/single-flight.ts'
import type { BlobStore } from './blobs/blobs.ts'
import { blobsAreGone, removeBlobs, removeUnneeded } from './collector.ts'
import { collectorIsHeld } from './collector-holds.ts'
import { noteRemoval, noteRemoved } from './content-removals.ts'
import type { Database } from '../engine/database.ts'
import { forgetReleased, someReleasedBy } from './released-contents.ts'

/** Rows deleted per transaction. */
const SLICE = 200

/** Stores report times in seconds; later publications are protected by the removal records anyway. */
const YOUNGEST = 5 * SECOND

/** Removes contents that an account released, without the collector's day of delay; not during a hold. */
export function makeReclaim(database: Database, blobs: BlobStore) {
  /** Deletes the next rows; undefined when done. */
  async function removeRows(user: number): Promise<string[] | undefined> {
    const some = await someReleasedBy(database.read, user, SLICE)
    if (some.length === 0) return undefined
    return database.write('instance', async (tx) => {
      if (await collectorIsHeld(tx)) return undefined
      const { stored } = await removeUnneeded(tx, some)
      await forgetReleased(tx, user, some)
      await noteRemoval(tx, stored)
      return stored
    })
  }

  async function reclaim(user: number): Promise<void> {
    for (;;) {
      const before = Date.now() + YOUNGEST
      const stored = await removeRows(user)
      if (!stored) return
      const gone = await removeBlobs(blobs, stored, before)
      if (stored.length === 0) continue
      await database.write('instance', async (tx) => {
        await noteRemoved(tx, stored)
        await blobsAreGone(tx, gone)
      })
    }
  }

  return { reclaim: makeSingleFlight(reclaim).run }
}
