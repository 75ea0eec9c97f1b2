import { messagesBefore, searchMessages } from '../../storage/chat-messages.ts'
import { isMember } from '../../storage/chat-rooms.ts'
import type { Database } from '../../storage/database.ts'
import { shareAll, shownTo, type ShownMessage } from './message-view.ts'
import { notMember } from './refusals.ts'
import { containing, readMoment } from './text.ts'

const PAGE = { standard: 50, most: 200 }
const FOUND = 100

/** Reading and searching messages. Faults: `forbidden` for a room the user is not in, `bad_request`. */
export const makeRead = ({ database }: { database: Database }) => ({
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
    database.snapshot(async (at) => {
      if (room !== undefined && !(await isMember(at, room, user))) throw notMember()
      const found = await searchMessages(at, { user, room, pattern: containing(query), limit: FOUND })
      return shownTo(user, await shareAll(at, found))
    }),
})
