import type { Clock } from '../../base/clock.ts'
import { beginMention, takeMention } from '../../storage/assistant/mentions.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { insertMessage } from '../../storage/chat/messages.ts'
import { enterRoom, takeRoom } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import { assertContent, fold } from './message-text.ts'

/** A message that mentions the assistant. */
export interface MentionedMessage {
  message: number
  room: number
  user: number
  name: string
}

interface Deps {
  database: Database
  clock: Clock
}

/** Posts the assistant's answers in rooms with the membership of the user who asked. */
export const makeAssistantReplies = ({ database, clock }: Deps) => ({
  /** Shows that an answer is in progress, until it is posted or `until` (epoch ms). */
  async begin({ message, room, user, name }: MentionedMessage, until: number): Promise<void> {
    await database.write('instance', async (tx) => {
      await beginMention(tx, message, { name, until })
      // Wakes the requests that wait for the room.
      await enterRoom(tx, room, user, clock.now())
    })
  },

  /** Posts an answer once; false if the message is gone or answered, or its author left the room. */
  async post({ message, room, user, name }: MentionedMessage, content: string): Promise<boolean> {
    assertContent(content)
    const now = clock.now()
    return database.write('instance', async (tx) => {
      if (!(await takeMention(tx, message))) return false
      const entered = await enterRoom(tx, room, user, now)
      if (!entered) {
        // Wakes the requests that wait for the room: the progress ended.
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

  /** Ends a mention without an answer. */
  async dismiss({ message, room }: Pick<MentionedMessage, 'message' | 'room'>): Promise<void> {
    await database.write('instance', async (tx) => {
      // Wakes the requests that wait for the room: the progress ended.
      if (await takeMention(tx, message)) await takeRoom(tx, room, clock.now())
    })
  },
})
