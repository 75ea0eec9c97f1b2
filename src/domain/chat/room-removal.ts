import { Busy, DiskFull } from '../../base/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../contract/errors.ts'
import { removeEmptyRoom } from '../../storage/chat/departure.ts'
import { accountsToEnd, endInFeeds } from '../../storage/chat/ended-memberships.ts'
import { ACCOUNTS } from '../../storage/chat/pending-changes.ts'
import { hasMembers, roomsWithoutMembers } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Heavy } from '../heavy.ts'

/** Entries of feeds that one transaction ends. */
const ENTRIES = 500
/** Rows of a room that one transaction deletes. */
const ROWS = 200

interface Parts {
  /** The database without the caller's authority check. */
  unattended: Database
  clock: Clock
  slice: Heavy['patientSlice']
}

/**
 * Finishes in slices what leaving and deleting rooms began: nobody sees the room any more, but feeds and the database still have
 * its messages. After a crash that is resumed.
 */
export function makeRoomRemoval({ unattended, clock, slice }: Parts) {
  /** Ends rooms that accounts are not in any more, or one room, in their feeds. */
  async function endFeeds(room?: number): Promise<void> {
    for (;;) {
      const users = await accountsToEnd(unattended.read, ACCOUNTS, room)
      if (users.length === 0) return
      const which = { users, ...(room !== undefined && { room }) }
      await slice(() => unattended.write({ accounts: users }, (tx) => endInFeeds(tx, which, ENTRIES, clock.now())))
    }
  }

  async function finish(room: number): Promise<void> {
    await endFeeds(room)
    // Most rooms that somebody leaves have members: no unit for the instance then.
    if (await hasMembers(unattended.read, room)) return
    const remove = () => unattended.write('instance', (tx) => removeEmptyRoom(tx, room, ROWS, clock.now()))
    while ((await slice(remove)) === 'more');
  }

  return {
    /** Ends a room that an account or all left; deletes it if it has no members. What cannot be done now is done later. */
    async finish(room: number): Promise<void> {
      try {
        await finish(room)
      } catch (error) {
        const isLater = error instanceof Busy || error instanceof DiskFull
        if (!isLater && !(error instanceof Fault && error.code === 'busy')) throw error
      }
    },
    /** Finishes everything that a crash or another process left behind. */
    async finishAll(): Promise<void> {
      await endFeeds()
      for (const room of await roomsWithoutMembers(unattended.read)) await finish(room)
    },
  }
}

export type RoomRemoval = ReturnType<typeof makeRoomRemoval>
