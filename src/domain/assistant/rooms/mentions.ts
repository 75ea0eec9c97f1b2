import pLimit from 'p-limit'
import { MINUTE, type Clock } from '../../../base/clock.ts'
import { isFault } from '../../../contract/errors.ts'
import { accountById } from '../../../storage/accounts/accounts.ts'
import { nextMention, roomsWithMentions, type Mention } from '../../../storage/assistant/mentions.ts'
import type { Database } from '../../../storage/engine/database.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Settings } from '../../instance/instance.ts'
import type { Budgets } from '../models/budgets.ts'
import type { Bounds } from '../tools/calls.ts'
import type { MentionListener } from './mention-listener.ts'
import { withinTime } from '../within-time.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { AssistantModels } from '../models/models.ts'
import type { ContinueRun } from '../loop.ts'
import { makeRoomAnswer } from './room-answer.ts'
import type { ToolsFor } from '../tools/tool.ts'

/** Rooms that are answered at the same moment. */
const AT_ONCE = 4
/** A mention is answered within this time or not at all, ms: later nobody knows what it was about. */
const STALE = 15 * MINUTE
/** An answer that ended the server is begun once more, not for ever. */
const TRIES = 2

interface Parts {
  database: Database
  clock: Clock
  settings: Settings
  chat: Pick<Chat, 'voice' | 'messages' | 'rooms'>
  mentionListener: MentionListener
  models: AssistantModels
  continueRun: ContinueRun
  budgets: Budgets
  toolsFor: ToolsFor
  ledger: Ledger
  bounds: Bounds
}

/** Answers who speaks to the assistant in a room: one after the other in each, with the tools of that room alone. */
export function makeMentions(parts: Parts) {
  const { database, clock, settings, chat, mentionListener, budgets, bounds } = parts
  const answerIn = makeRoomAnswer(parts)
  const busy = new Map<number, Promise<void>>()
  const turns = pLimit(AT_ONCE)
  const end = new AbortController()
  let begun: Promise<void> = Promise.resolve()

  /** Answers one mention; what goes wrong is said in the room. */
  async function attend(mention: Mention & { content: string }, report: (error: unknown) => void): Promise<void> {
    const { message_id: message, room_id: room, user_id: user } = mention
    const account = await accountById(database.read, user)
    const isLate = mention.asked_at < clock.now() - STALE || mention.tries >= TRIES
    if (isLate || !account || account.disabled_at !== null) return chat.voice.leaves({ message, room })
    const addressed = { message, room, user, name: (await settings.values())['assistant.name'] }
    await chat.voice.thinks(addressed, clock.now() + bounds.answerMs)
    let text: string
    try {
      text = await budgets.within(user, () =>
        withinTime(end.signal, bounds.answerMs, (signal) =>
          answerIn(room, { account, name: addressed.name, content: mention.content, signal }),
        ),
      )
    } catch (error) {
      // The next start goes on with what a stop has interrupted.
      if (end.signal.aborted) return
      if (!isFault(error)) report(error)
      text = isFault(error) ? error.message : 'Something went wrong here; ask me again.'
    }
    await chat.voice.says(addressed, text)
  }

  async function attendAll(room: number, report: (error: unknown) => void): Promise<void> {
    while (!end.signal.aborted) {
      const mention = await nextMention(database.read, room)
      if (!mention) return
      await attend(mention, report)
    }
  }

  return {
    /** Begins to answer, first what a server before has left. `report` is told of bugs. */
    start(report: (error: unknown) => void): void {
      const hear = (room: number) => {
        if (end.signal.aborted) return
        // Behind what goes on in the room: whatever comes meanwhile is not missed.
        const turn = (busy.get(room) ?? Promise.resolve())
          .then(() => turns(() => attendAll(room, report)))
          .catch(report)
          .finally(() => {
            if (busy.get(room) === turn) busy.delete(room)
          })
        busy.set(room, turn)
      }
      mentionListener.onMention(hear)
      begun = roomsWithMentions(database.read).then((rooms) => rooms.forEach(hear), report)
    },

    /** Ends what is under way; it is gone on with at the next start. */
    async stop(): Promise<void> {
      end.abort()
      await begun
      await Promise.all(busy.values())
    },

    /** Resolves when nothing waits in this process any more. */
    async idle(): Promise<void> {
      await begun
      while (busy.size > 0) await Promise.all(busy.values())
    },
  }
}
