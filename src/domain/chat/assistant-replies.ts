import type { Clock } from '../../base/clock.ts'
import { beginMention, takeMention } from '../../storage/assistant/mentions.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { insertMessage } from '../../storage/chat/messages.ts'
import { enterRoom, takeRoom } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import { assertContent, fold } from './text.ts'

/** A message that the assistant answers, for whoever wrote it. */
export interface Addressed {
  message: number
  room: number
  user: number
  /** Under which the assistant speaks. */
  name: string
}

interface Parts {
  database: Database
  clock: Clock
}

/** How the assistant speaks in rooms: in the name of whom it answers, and only where they are. */
export const makeAssistantReplies = ({ database, clock }: Parts) => ({
  /** Shows that an answer is being made, until it is there or the moment `until` (epoch ms). */
  async thinks({ message, room, user, name }: Addressed, until: number): Promise<void> {
    await database.write(async (tx) => {
      await beginMention(tx, message, { name, until })
      // Who waits for news of the room is to see it now.
      await enterRoom(tx, room, user, clock.now())
    })
  },

  /**
   * Says something as the answer to a message, once: false, and nothing is said, when the message is gone, was answered,
   * or its author is not in the room any more.
   */
  async says({ message, room, user, name }: Addressed, content: string): Promise<boolean> {
    assertContent(content)
    const now = clock.now()
    return database.write(async (tx) => {
      if (!(await takeMention(tx, message))) return false
      const entered = await enterRoom(tx, room, user, now)
      if (!entered) {
        // As where it is left: nobody thinks about it any more.
        await takeRoom(tx, room, now)
        return false
      }
      const row = { room_id: room, user_id: user, content, folded: fold(content), timestamp: entered.stamp }
      const said = { reply_to: message, client_id: null, is_assistant: 1, spoken_by: name }
      const id = await insertMessage(tx, { ...row, ...said })
      await recordForMembers(tx, { room, table: 'svc_messages', row: id, deleted: false }, now)
      return true
    })
  },

  /** Leaves a message unanswered. */
  async leaves({ message, room }: Pick<Addressed, 'message' | 'room'>): Promise<void> {
    await database.write(async (tx) => {
      // Who waits for news of the room is to see that nobody thinks about it any more.
      if (await takeMention(tx, message)) await takeRoom(tx, room, clock.now())
    })
  },
})
