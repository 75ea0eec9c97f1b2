import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { recordForMembers } from '../../storage/chat/room-feed.ts'
import { deleteMessage, editMessage, visibleMessage } from '../../storage/chat/messages.ts'
import { insertReaction, reactionsTo, removeReaction, touchMessage } from '../../storage/chat/reactions.ts'
import { enterRoom, type Entered } from '../../storage/chat/rooms.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Audit } from '../instance/instance.ts'
import { withinBound } from '../data-bounds.ts'
import type { Author } from './author.ts'
import { groupByEmoji, reactionsFor, type ShownReactions } from './message-view.ts'
import { noSuchMessage } from './chat-faults.ts'
import { assertContent, assertEmoji, fold } from './message-text.ts'

const DISTINCT_EMOJI = 50
const REACTIONS = 1_000

interface Deps {
  database: Database
  clock: Clock
  audit: Audit
}

/** Faults: `forbidden`, `not_found` outside of the user's rooms, `bad_request`, `quota_exceeded`. */
export function makeMessageChanges({ database, clock, audit }: Deps) {
  /** Changes a message in a transaction, with a timestamp that is unique in its room. */
  const change = async <T>(
    user: number,
    id: number,
    unit: (
      tx: Writer,
      message: { id: number; entered: Entered; author: number; stamp: number; isAssistant: boolean },
    ) => Promise<T>,
  ): Promise<T> => {
    const seen = await visibleMessage(database.read, id, user)
    if (!seen) throw noSuchMessage()
    const room = seen.room_id
    // Reactions count for their authors, and go with the message.
    const reacted = (await reactionsTo(database.read, [id])).map(({ user_id }) => user_id)
    const scope = { accounts: [user, seen.user_id, ...reacted], rooms: [room], memberFeeds: [room] }
    return database.write(scope, async (tx) => {
      const entered = await enterRoom(tx, room, user, clock.now())
      const found = await visibleMessage(tx, id, user)
      if (!entered || !found) throw noSuchMessage()
      const isAssistant = found.is_assistant === 1
      return unit(tx, { id, entered, author: found.user_id, stamp: entered.stamp, isAssistant })
    })
  }

  const record = (tx: Writer, entered: Entered, row: number, deleted = false) =>
    recordForMembers(tx, entered, { table: 'svc_messages', row, deleted }, clock.now())

  return {
    async edit({ id: user }: Author, { message_id, content }: { message_id: number; content: string }): Promise<void> {
      assertContent(content)
      await change(user, message_id, async (tx, { id, entered, author, stamp, isAssistant }) => {
        // The user who asked may delete the assistant's answer, but nobody may edit it.
        if (author !== user || isAssistant) throw fault('forbidden', { text: 'Only its author may edit a message.' })
        await withinBound(tx, user, 'chat', () => editMessage(tx, id, { content, folded: fold(content) }, stamp))
        await record(tx, entered, id)
      })
    },

    /** Deletes a message of the user's own; administrators delete any message of their rooms. */
    async remove({ id: user, role }: Author, message_id: number): Promise<void> {
      await change(user, message_id, async (tx, { id, entered, author, stamp }) => {
        if (author !== user && role !== 'admin')
          throw fault('forbidden', { text: 'Only its author and administrators may delete a message.' })
        const { id: room } = entered
        await deleteMessage(tx, id, room, stamp)
        await record(tx, entered, id, true)
        // The log omits the text: it may be a secret that was posted by mistake.
        if (author !== user)
          await audit.record(tx, { kind: 'message.removed', by: user, about: author, detail: { message: id, room } })
      })
    },

    /** Toggles a reaction. `too_many_operations` beyond 50 different or 1000 reactions. */
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
          assertReactionsLeft(emoji, others)
          await withinBound(tx, user, 'chat', () => insertReaction(tx, own, stamp))
        }
        await touchMessage(tx, id, stamp)
        return { reactions: reactionsFor(user, groupByEmoji(added ? [...others, own] : others)), added }
      })
    },
  }
}

function assertReactionsLeft(emoji: string, reactions: readonly { emoji: string }[]): void {
  const distinct = new Set(reactions.map((reaction) => reaction.emoji)).add(emoji)
  if (distinct.size <= DISTINCT_EMOJI && reactions.length < REACTIONS) return
  const text = `A message has at most ${DISTINCT_EMOJI} different reactions and ${REACTIONS} in all.`
  throw fault('too_many_operations', { text })
}
