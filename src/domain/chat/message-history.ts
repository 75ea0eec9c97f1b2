import { makeKeyedMutex } from '../../base/keyed-mutex.ts'
import { yieldToOthers } from '../turn.ts'
import { messagesBefore, searchPart, type Message } from '../../storage/chat/messages.ts'
import { isMember, roomsOf } from '../../storage/chat/rooms.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { viewsOf, shownTo, type ShownMessage } from './message-view.ts'
import { notMember } from './chat-faults.ts'
import { containsPattern, readTimestamp } from './message-text.ts'

const PAGE = { default: 50, max: 200 }
const MAX_FOUND = 100

const newestFirst = (a: Message, b: Message): number => b.timestamp - a.timestamp || b.id - a.id

/** Searches the newest messages of rooms for a LIKE pattern, in slices that let other work run. */
async function searchIn(at: Reader, user: number, rooms: readonly number[], pattern: string): Promise<Message[]> {
  let newest: Message[] = []
  for (const room of rooms) {
    let before: number | undefined = Number.MAX_SAFE_INTEGER
    // Older messages cannot be among the newest matches.
    while (before !== undefined && !(newest.length === MAX_FOUND && before <= newest[MAX_FOUND - 1]!.timestamp)) {
      const part: Awaited<ReturnType<typeof searchPart>> = await searchPart(at, {
        room,
        user,
        before,
        pattern,
        limit: MAX_FOUND,
      })
      newest = [...newest, ...part.found].sort(newestFirst).slice(0, MAX_FOUND)
      before = part.before
      await yieldToOthers()
    }
  }
  return newest
}

/** Reads and searches messages. Faults: `forbidden` for a room the user is not in, `bad_request`. */
export const makeMessageHistory = ({ database }: { database: Database }, exclusively = makeKeyedMutex<number>()) => ({
  /** The last messages of a room, or those before a timestamp; oldest first. */
  async messages(
    user: number,
    { room_id: room, before, limit = PAGE.default }: { room_id: number; before?: string; limit?: number },
  ): Promise<{ messages: ShownMessage[]; has_more: boolean }> {
    const max = Math.min(limit, PAGE.max)
    const until = before === undefined ? Number.MAX_SAFE_INTEGER : readTimestamp('before', before)
    return database.snapshot(async (at) => {
      if (!(await isMember(at, room, user))) throw notMember()
      const found = await messagesBefore(at, { room, user, before: until, limit: max + 1 })
      const page = await viewsOf(at, found.slice(0, max).reverse())
      return { messages: shownTo(user, page), has_more: found.length > max }
    })
  },

  /** The newest 100 messages that contain a text, in all rooms of the user or in one. */
  search: (user: number, { query, room_id: room }: { query: string; room_id?: number }): Promise<ShownMessage[]> =>
    exclusively(user, () =>
      database.snapshot(async (at) => {
        if (room !== undefined && !(await isMember(at, room, user))) throw notMember()
        const rooms = room === undefined ? (await roomsOf(at, user)).map(({ id }) => id) : [room]
        const found = await searchIn(at, user, rooms, containsPattern(query))
        return shownTo(user, await viewsOf(at, found))
      }),
    ),
})
