import type { Clock } from '../../base/clock.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { insertMessage, messageOfClient, visibleMessage, type Message } from '../../storage/chat/messages.ts'
import { markSpoken } from '../../storage/chat/presence.ts'
import { enterRoom } from '../../storage/chat/rooms.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { withinBound } from '../data-bounds.ts'
import type { Author } from './author.ts'
import { shareAll, shownTo, type ShownMessage } from './message-view.ts'
import { noSuchMessage, notMember } from './refusals.ts'
import { assertContent, fold } from './text.ts'

interface NewMessage {
  room_id: number
  content: string
  reply_to?: number
  client_id?: string
}

/** Somebody who answers what is said in rooms. */
export interface MessageListener {
  /** Whether a message is for them. */
  isFor(content: string): Promise<boolean>
  /** Notes a message that is, one step of the transaction that posts it; false when they take no more. */
  note(tx: Writer, message: { id: number; room_id: number; user_id: number }): Promise<boolean>
  /** Such a message is stored. */
  heard(room: number): void
}

interface Parts {
  database: Database
  clock: Clock
  listener: MessageListener
}

/** Posts a message, one step of a transaction; it is not new when its `client_id` was there before. */
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
  const id = await withinBound(tx, author.id, 'chat', () => insertMessage(tx, { ...row, ...said }))
  await markSpoken(tx, { room, user: author.id, now, stamp: timestamp })
  await recordForMembers(tx, { room, table: 'svc_messages', row: id, deleted: false }, now)
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

/** Posting messages. */
export function makeSend({ database, clock, listener }: Parts) {
  return {
    /**
     * Posts a message; the same `client_id` again answers the first one. Faults: `forbidden` for a room the author is not
     * in, `not_found` for a `reply_to` of another room, `bad_request`, `quota_exceeded`.
     */
    async send(author: Author, message: NewMessage): Promise<ShownMessage> {
      assertContent(message.content)
      const isForListener = await listener.isFor(message.content)
      const { shown, isNoted } = await database.write(async (tx) => {
        const { posted, isNew } = await postIn(tx, author, message, clock.now())
        const isNoted = isForListener && isNew && (await listener.note(tx, posted))
        const [shown] = shownTo(author.id, await shareAll(tx, [posted]))
        return { shown: shown!, isNoted }
      })
      if (isNoted) listener.heard(message.room_id)
      return shown
    },
  }
}
