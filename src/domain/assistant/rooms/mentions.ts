import pLimit from 'p-limit'
import { MINUTE } from '../../../base/clock.ts'
import { isFault } from '../../../contract/errors.ts'
import { accountById } from '../../../storage/accounts/accounts.ts'
import { nextMention, roomsWithMentions, type Mention } from '../../../storage/assistant/mentions.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Settings } from '../../instance/instance.ts'
import type { Bounds } from '../tools/tool-calls.ts'
import type { MentionListener } from './mention-listener.ts'
import { withTimeLimit } from '../time-limit.ts'
import { makeRoomAnswer } from './room-answer.ts'

const MAX_CONCURRENT_ROOMS = 4
/** Age after which a mention is not answered any more, ms. */
const MAX_AGE = 15 * MINUTE
/** Attempts at an answer, so that a mention that crashes the server is not retried forever. */
const MAX_TRIES = 2

type Deps = Parameters<typeof makeRoomAnswer>[0] & {
  settings: Settings
  chat: Pick<Chat, 'assistantReplies'>
  mentionListener: MentionListener
  bounds: Bounds
}

/** Answers mentions in rooms: one at a time per room, with the tools of that room only. */
export function makeMentions(deps: Deps) {
  const { database, clock, settings, chat, mentionListener, budgets, bounds } = deps
  const answerIn = makeRoomAnswer(deps)
  const busy = new Map<number, Promise<void>>()
  const limit = pLimit(MAX_CONCURRENT_ROOMS)
  const end = new AbortController()
  let started: Promise<void> = Promise.resolve()
  let report: (error: unknown) => void = () => undefined

  /** Answers one mention, unless another server does; posts failures in the room. */
  async function answerMention(mention: Mention & { content: string }): Promise<void> {
    const { message_id: message, room_id: room, user_id: user } = mention
    const account = await accountById(database.read, user)
    const isLate = mention.asked_at < clock.now() - MAX_AGE || mention.tries >= MAX_TRIES
    if (isLate || !account || account.disabled_at !== null) return chat.assistantReplies.dismiss({ message, room })
    const mentioned = { message, room, user, name: (await settings.values())['assistant.name'] }
    if (!(await chat.assistantReplies.begin(mentioned, clock.now() + bounds.answerMs))) return
    let text: string
    try {
      text = await budgets.within(user, () =>
        withTimeLimit(end.signal, bounds.answerMs, (signal) =>
          answerIn(room, { account, name: mentioned.name, content: mention.content, signal }),
        ),
      )
    } catch (error) {
      if (end.signal.aborted) return void (await chat.assistantReplies.leave(mentioned))
      if (!isFault(error)) report(error)
      text = isFault(error) ? error.message : 'Something went wrong here; ask me again.'
    }
    await chat.assistantReplies.post(mentioned, text)
  }

  async function answerRoom(room: number): Promise<void> {
    while (!end.signal.aborted) {
      const mention = await nextMention(database.read, room)
      if (!mention) return
      const wait = mention.working_until - clock.now()
      // Another server answers, and then goes on with the room. If it was killed, this one does.
      if (wait > 0) return void setTimeout(() => enqueue(room), wait).unref()
      await answerMention(mention)
    }
  }

  /** Queues behind the room's current answers, so that no mention is missed. */
  function enqueue(room: number): void {
    if (end.signal.aborted) return
    const current = (busy.get(room) ?? Promise.resolve())
      .then(() => limit(() => answerRoom(room)))
      .catch((error: unknown) => report(error))
      .finally(() => {
        if (busy.get(room) === current) busy.delete(room)
      })
    busy.set(room, current)
  }

  return {
    /** Starts answering, beginning with the mentions of an earlier process. `onBug` receives bugs. */
    start(onBug: (error: unknown) => void): void {
      report = onBug
      mentionListener.onMention(enqueue)
      started = roomsWithMentions(database.read).then((rooms) => rooms.forEach(enqueue), report)
    },

    /** Stops running answers; the next start begins them again. */
    async stop(): Promise<void> {
      end.abort()
      await started
      await Promise.all(busy.values())
    },

    /** Resolves when this process has no mentions left. */
    async idle(): Promise<void> {
      await started
      while (busy.size > 0) await Promise.all(busy.values())
    },
  }
}
