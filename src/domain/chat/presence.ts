import { MINUTE, SECOND, type Clock } from '../../base/clock.ts'
import { isTyping, markPresent, markRead, markTyping } from '../../storage/chat/presence.ts'
import { activeUsers, enterRoom, type Person } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import { notMember } from './chat-faults.ts'

const TYPING_LASTS = 6 * SECOND
const ONLINE_WITHIN = 2 * MINUTE

interface Deps {
  database: Database
  clock: Clock
}

export const makePresence = ({ database, clock }: Deps) => ({
  /** Records that the user is typing in a room, for 6 seconds. */
  async typing(user: number, room: number): Promise<void> {
    const now = clock.now()
    const mark = { room, user, now }
    await database.write({ accounts: [user], rooms: [room] }, async (tx) => {
      // Only the start is an event of the room; a repetition prolongs it.
      const began = !(await isTyping(tx, mark))
      if (began && !(await enterRoom(tx, room, user, now))) throw notMember()
      await markPresent(tx, mark)
      await markTyping(tx, { ...mark, until: now + TYPING_LASTS })
    })
  },

  /** Records that the user views a room. */
  async presence(user: number, room: number): Promise<void> {
    if (!(await database.write({ accounts: [user] }, (tx) => markPresent(tx, { room, user, now: clock.now() }))))
      throw notMember()
  },

  async markRead(user: number, room: number): Promise<void> {
    if (!(await database.write({ accounts: [user] }, (tx) => markRead(tx, room, user)))) throw notMember()
  },

  /** Users active within the last 2 minutes, by name. */
  online: (): Promise<Person[]> => activeUsers(database.read, clock.now() - ONLINE_WITHIN),

  users: (): Promise<Person[]> => activeUsers(database.read),
})
