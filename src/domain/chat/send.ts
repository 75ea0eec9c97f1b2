import type { Clock } from '../../base/clock.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { insertMessage, messageOfClient, visibleMessage, type Message } from '../../storage/chat/messages.ts'
import { markAfterMessage } from '../../storage/chat/presence.ts'
import { enterRoom } from '../../storage/chat/rooms.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { withinBound } from '../data-bounds.ts'
import type { Author } from './author.ts'
import { viewsOf, shownTo, type ShownMessage } from './message-view.ts'
import { noSuchMessage, notMember } from './chat-faults.ts'
import { assertContent, fold } from './message-text.ts'

interface NewMessage {
  room_id: number
  content: string
  reply_to?: number
  client_id?: string
}

/** Receives the messages that are meant for it. */
export interface MessageListener {
  /** Whether a message is meant for it. */
  isFor(content: string): Promise<boolean>
  /**
   * Records such a message, as a step of the transaction that posts it; false if it takes no more. `request` is the same
   * object when the transaction runs again.
   */
  record(tx: Writer, message: { id: number; room_id: number; user_id: number }, request: object): Promise<boolean>
  /** Called after the commit of such a message. */
  committed(room: number): void
}

interface Deps {
  database: Database
  clock: Clock
  listener: MessageListener
}

/** Posts a message as a step of a transaction; `isNew` is false if its `client_id` existed. */
export async function postIn(
  tx: Writer,
  author: Author,
  message: NewMessage,
  now: number,
): Promise<{ posted: Message; isNew: boolean }> {
  const { room_id: room, content, reply_to = null, client_id = null } = message
  const entered = await enterRoom(tx, room, author.id, now)
  if (!entered) throw notMember()
  const before =
    client_id === null ? undefined : await messageOfClient(tx, { room, user: author.id, client: client_id })
  if (before) return { posted: before, isNew: false }
  if (reply_to !== null && (await visibleMessage(tx, reply_to, author.id))?.room_id !== room) throw noSuchMessage()
  const { stamp: timestamp } = entered
  const row = { room_id: room, user_id: author.id, content, timestamp, reply_to }
  const said = { folded: fold(content), client_id, is_assistant: 0, spoken_by: null }
  const id = await withinBound(tx, author.id, 'chat', () => insertMessage(tx, { ...row, ...said }), 'always grows')
  await markAfterMessage(tx, { room, user: author.id, now, stamp: timestamp })
  await recordForMembers(tx, entered, { table: 'svc_messages', row: id, deleted: false }, now)
  const { username, display_name, avatar_color } = author
  const shown = {
    username,
    display_name,
    avatar_color,
    edited_at: null,
    is_assistant: 0,
    changed_at: 0,
    spoken_by: null,
  }
  return { posted: { id, ...row, ...shown }, isNew: true }
}

export function makeSend({ database, clock, listener }: Deps) {
  return {
    /**
     * Posts a message; a repeated `client_id` returns the first one. Faults: `forbidden` for a room the author is not in,
     * `not_found` for a `reply_to` of another room, `bad_request`, `quota_exceeded`.
     */
    async send(author: Author, message: NewMessage): Promise<ShownMessage> {
      assertContent(message.content)
      const isForListener = await listener.isFor(message.content)
      const { shown, isRecorded } = await database.write(
        { accounts: [author.id], rooms: [message.room_id], memberFeeds: [message.room_id] },
        async (tx) => {
          const { posted, isNew } = await postIn(tx, author, message, clock.now())
          const isRecorded = isForListener && isNew && (await listener.record(tx, posted, message))
          const [shown] = shownTo(author.id, await viewsOf(tx, [posted]))
          return { shown: shown!, isRecorded }
        },
      )
      if (isRecorded) listener.committed(message.room_id)
      return shown
    },
  }
}
