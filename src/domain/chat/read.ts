import { makeKeyedMutex } from '../../base/keyed-mutex.ts'
import { turn } from '../turn.ts'
import { messagesBefore, searchPart, type Message } from '../../storage/chat/messages.ts'
import { isMember, roomsOf } from '../../storage/chat/rooms.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { shareAll, shownTo, type ShownMessage } from './message-view.ts'
import { notMember } from './refusals.ts'
import { containing, readMoment } from './text.ts'

const PAGE = { standard: 50, most: 200 }
const FOUND = 100

const newestFirst = (a: Message, b: Message): number => b.timestamp - a.timestamp || b.id - a.id

/** The newest messages of some rooms that are like a pattern, found part by part while others have their turn. */
async function searchIn(at: Reader, user: number, rooms: readonly number[], pattern: string): Promise<Message[]> {
  let newest: Message[] = []
  for (const room of rooms) {
    let before: number | undefined = Number.MAX_SAFE_INTEGER
    // Older ones than all that are wanted need not be looked at.
    while (before !== undefined && !(newest.length === FOUND && before <= newest[FOUND - 1]!.timestamp)) {
      const part: Awaited<ReturnType<typeof searchPart>> = await searchPart(at, {
        room,
        user,
        before,
        pattern,
        limit: FOUND,
      })
      newest = [...newest, ...part.found].sort(newestFirst).slice(0, FOUND)
      before = part.before
      await turn()
    }
  }
  return newest
}

/** Reading and searching messages. Faults: `forbidden` for a room the user is not in, `bad_request`. */
export const makeRead = ({ database }: { database: Database }, exclusively = makeKeyedMutex<number>()) => ({
  /** The last messages of a room, or those before a moment; oldest first. */
  async messages(
    user: number,
    { room_id: room, before, limit = PAGE.standard }: { room_id: number; before?: string; limit?: number },
  ): Promise<{ messages: ShownMessage[]; has_more: boolean }> {
    const most = Math.min(limit, PAGE.most)
    const until = before === undefined ? Number.MAX_SAFE_INTEGER : readMoment('before', before)
    return database.snapshot(async (at) => {
      if (!(await isMember(at, room, user))) throw notMember()
      const found = await messagesBefore(at, { room, user, before: until, limit: most + 1 })
      const page = await shareAll(at, found.slice(0, most).reverse())
      return { messages: shownTo(user, page), has_more: found.length > most }
    })
  },

  /** The newest 100 messages that contain a text, of all rooms of the user or of one. */
  search: (user: number, { query, room_id: room }: { query: string; room_id?: number }): Promise<ShownMessage[]> =>
    exclusively(user, () =>
      database.snapshot(async (at) => {
        if (room !== undefined && !(await isMember(at, room, user))) throw notMember()
        const rooms = room === undefined ? (await roomsOf(at, user)).map(({ id }) => id) : [room]
        const found = await searchIn(at, user, rooms, containing(query))
        return shownTo(user, await shareAll(at, found))
      }),
    ),
})
