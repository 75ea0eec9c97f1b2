import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { endRoom } from '../../storage/chat/room-feed.ts'
import { deleteRoom, takeRoom } from '../../storage/chat/rooms.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { allMembersOf, roomOverviews, type RoomMember, type RoomOverview } from '../../storage/chat/room-overview.ts'
import type { Audit } from '../instance/instance.ts'

export type { RoomOverview } from '../../storage/chat/room-overview.ts'

interface Deps {
  database: Database
  clock: Clock
  audit: Audit
}

async function find(on: Reader, room: number): Promise<RoomOverview> {
  const [found] = await roomOverviews(on, room)
  if (!found) throw fault('not_found', { text: `There is no room with the ID ${room}.` })
  return found
}

/** Rooms for administrators, who need not be members. Fault `not_found`. */
export const makeRoomAdministration = ({ database, clock, audit }: Deps) => ({
  list: (): Promise<RoomOverview[]> => database.snapshot((at) => roomOverviews(at)),

  details: (room: number): Promise<RoomOverview & { people: RoomMember[] }> =>
    database.snapshot(async (at) => ({ ...(await find(at, room)), people: await allMembersOf(at, room) })),

  /** Deletes a room with its messages and files permanently. Returns what it contained. */
  async remove(room: number): Promise<RoomOverview> {
    const now = clock.now()
    return database.write('instance', async (tx) => {
      const removed = await find(tx, room)
      await takeRoom(tx, room, now)
      await endRoom(tx, { room }, now)
      await deleteRoom(tx, room)
      const { id, name, members, messages, files, bytes } = removed
      await audit.record(tx, { kind: 'room.removed', detail: { id, name, members, messages, files, bytes } })
      return removed
    })
  },
})
