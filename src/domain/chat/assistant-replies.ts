import type { Clock } from '../../base/clock.ts'
import { accountById } from '../../storage/accounts/accounts.ts'
import { beginMention, leaveMention, takeMention } from '../../storage/assistant/mentions.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { insertMessage } from '../../storage/chat/messages.ts'
import { enterRoom, takeRoom } from '../../storage/chat/rooms.ts'
import type { Database } from '../../storage/engine/database.ts'
import { assertContent, fold } from './message-text.ts'

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

export const makeAssistantReplies = ({ database, clock }: Deps) => ({
  /** Shows that an answer is in progress, until it is posted or `until` (epoch ms). False while another server answers. */
  async begin({ message, room, user, name }: MentionedMessage, until: number): Promise<boolean> {
    const now = clock.now()
    return database.write({ rooms: [room] }, async (tx) => {
      if (!(await beginMention(tx, message, { name, now, until }))) return false
      // Wakes the requests that wait for the room.
      await enterRoom(tx, room, user, now)
      return true
    })
  },

  /** Leaves a mention that was begun until `until` to the next attempt; `isUntried` if this one does not count. */
  async leave(
    { message, room }: Pick<MentionedMessage, 'message' | 'room'>,
    begun: { until: number; isUntried: boolean },
  ): Promise<void> {
    await database.write({ rooms: [room] }, async (tx) => {
      // Wakes the requests that wait for the room: the progress ended.
      if (await leaveMention(tx, message, begun)) await takeRoom(tx, room, clock.now())
    })
  },

  /** Posts an answer once; false if the message is gone or answered, or its author left the room or is disabled. */
  async post({ message, room, user, name }: MentionedMessage, content: string): Promise<boolean> {
    assertContent(content)
    const now = clock.now()
    return database.write({ accounts: [user], rooms: [room], memberFeeds: [room] }, async (tx) => {
      if (!(await takeMention(tx, message))) return false
      const isActive = (await accountById(tx, user))?.disabled_at === null
      const entered = isActive && (await enterRoom(tx, room, user, now))
      if (!entered) {
        // Wakes the requests that wait for the room: the progress ended.
        await takeRoom(tx, room, now)
        return false
      }
      const row = { room_id: room, user_id: user, content, folded: fold(content), timestamp: entered.stamp }
      const said = { reply_to: message, client_id: null, is_assistant: 1, spoken_by: name }
      const id = await insertMessage(tx, { ...row, ...said })
      await recordForMembers(tx, entered, { table: 'svc_messages', row: id, deleted: false }, now)
      return true
    })
  },
})
