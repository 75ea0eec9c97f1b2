import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { endMemberships } from '../../storage/chat/ended-memberships.ts'
import { forgetPair, takeRoom } from '../../storage/chat/rooms.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { allMembersOf, roomOverviews, type RoomMember, type RoomOverview } from '../../storage/chat/room-overview.ts'
import type { Audit } from '../instance/instance.ts'
import type { RoomRemoval } from './room-removal.ts'

export type { RoomOverview } from '../../storage/chat/room-overview.ts'

interface Deps {
  database: Database
  clock: Clock
  audit: Audit
  removal: RoomRemoval
}

async function find(on: Reader, room: number): Promise<RoomOverview> {
  const [found] = await roomOverviews(on, room)
  if (!found) throw fault('not_found', { text: `There is no room with the ID ${room}.` })
  return found
}

/** Rooms for administrators, who need not be members. Fault `not_found`. */
export const makeRoomAdministration = ({ database, clock, audit, removal }: Deps) => ({
  list: (): Promise<RoomOverview[]> => database.snapshot((at) => roomOverviews(at)),

  details: (room: number): Promise<RoomOverview & { people: RoomMember[] }> =>
    database.snapshot(async (at) => ({ ...(await find(at, room)), people: await allMembersOf(at, room) })),

  /** Deletes a room with its messages and files permanently. Returns what it contained. */
  async remove(room: number): Promise<RoomOverview> {
    const now = clock.now()
    const overview = await database.write({ rooms: [room] }, async (tx) => {
      const removed = await find(tx, room)
      await takeRoom(tx, room, now)
      await endMemberships(tx, { room })
      await forgetPair(tx, room)
      const { id, name, members, messages, files, bytes } = removed
      await audit.record(tx, { kind: 'room.removed', detail: { id, name, members, messages, files, bytes } })
      return removed
    })
    await removal.finish(room)
    return overview
  },
})
