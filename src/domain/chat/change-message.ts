import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { deleteMessage, editMessage, visibleMessage } from '../../storage/chat/messages.ts'
import { insertReaction, reactionsTo, removeReaction, touchMessage } from '../../storage/chat/reactions.ts'
import { enterRoom } from '../../storage/chat/rooms.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Audit } from '../instance/instance.ts'
import { withinBound } from '../data-bounds.ts'
import type { Author } from './author.ts'
import { group, reactionsFor, type ShownReactions } from './message-view.ts'
import { noSuchMessage } from './refusals.ts'
import { assertContent, assertEmoji, fold } from './text.ts'

const DISTINCT_EMOJI = 50
const REACTIONS = 1_000

interface Parts {
  database: Database
  clock: Clock
  audit: Audit
}

/** Changing messages. Faults: `forbidden`, `not_found` for a message of a room the user is not in, `bad_request`, `quota_exceeded`. */
export function makeMessageChanges({ database, clock, audit }: Parts) {
  /** Does something to a message, at a moment that belongs to it alone in its room. */
  const change = <T>(
    user: number,
    id: number,
    part: (
      tx: Writer,
      message: { id: number; room: number; author: number; stamp: number; isAssistant: boolean },
    ) => Promise<T>,
  ): Promise<T> =>
    database.write(async (tx) => {
      const found = await visibleMessage(tx, id, user)
      const entered = found && (await enterRoom(tx, found.room_id, user, clock.now()))
      // Looked at again behind the lock of the room: it may have been deleted meanwhile.
      if (!entered || !(await visibleMessage(tx, id, user))) throw noSuchMessage()
      const isAssistant = found.is_assistant === 1
      return part(tx, { id, room: found.room_id, author: found.user_id, stamp: entered.stamp, isAssistant })
    })

  const record = (tx: Writer, room: number, row: number, deleted = false) =>
    recordForMembers(tx, { room, table: 'svc_messages', row, deleted }, clock.now())

  return {
    /** Gives a message of one's own another text. */
    async edit({ id: user }: Author, { message_id, content }: { message_id: number; content: string }): Promise<void> {
      assertContent(content)
      await change(user, message_id, async (tx, { id, room, author, stamp, isAssistant }) => {
        // Whom the assistant answered may delete the answer, and nobody may put words into its mouth.
        if (author !== user || isAssistant) throw fault('forbidden', { text: 'Only its author may edit a message.' })
        await withinBound(tx, user, 'chat', () => editMessage(tx, id, { content, folded: fold(content) }, stamp))
        await record(tx, room, id)
      })
    },

    /** Deletes a message of one's own; administrators any message of a room they are in. */
    async remove({ id: user, role }: Author, message_id: number): Promise<void> {
      await change(user, message_id, async (tx, { id, room, author, stamp }) => {
        if (author !== user && role !== 'admin')
          throw fault('forbidden', { text: 'Only its author and administrators may delete a message.' })
        await deleteMessage(tx, id, room, stamp)
        await record(tx, room, id, true)
        // Its text is not kept: who removes a secret from a room does not want it in the log.
        if (author !== user)
          await audit.record(tx, { kind: 'message.removed', by: user, about: author, detail: { message: id, room } })
      })
    },

    /** Adds a reaction, or takes it back. `too_many_operations` beyond 50 different ones or 1000 in all. */
    async react(
      { id: user }: Author,
      { message_id, emoji }: { message_id: number; emoji: string },
    ): Promise<{ reactions: ShownReactions; added: boolean }> {
      assertEmoji(emoji)
      return change(user, message_id, async (tx, { id, stamp }) => {
        const added = !(await removeReaction(tx, { message: id, user, emoji }))
        const others = await reactionsTo(tx, [id])
        const own = { message_id: id, user_id: user, emoji }
        if (added) {
          assertRoomFor(emoji, others)
          await withinBound(tx, user, 'chat', () => insertReaction(tx, own, stamp))
        }
        await touchMessage(tx, id, stamp)
        return { reactions: reactionsFor(user, group(added ? [...others, own] : others)), added }
      })
    },
  }
}

function assertRoomFor(emoji: string, reactions: readonly { emoji: string }[]): void {
  const distinct = new Set(reactions.map((reaction) => reaction.emoji)).add(emoji)
  if (distinct.size <= DISTINCT_EMOJI && reactions.length < REACTIONS) return
  const text = `A message has at most ${DISTINCT_EMOJI} different reactions and ${REACTIONS} in all.`
  throw fault('too_many_operations', { text })
}
