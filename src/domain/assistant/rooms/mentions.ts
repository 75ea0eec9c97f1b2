import pLimit from 'p-limit'
import { MINUTE, SECOND } from '../../../base/clock.ts'
import { Busy } from '../../../base/errors.ts'
import { isFault } from '../../../contract/errors.ts'
import { accountById } from '../../../storage/accounts/accounts.ts'
import { nextMention, roomsWithDueMentions, type Mention } from '../../../storage/assistant/mentions.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Settings } from '../../instance/instance.ts'
import type { Bounds } from '../tools/tool-calls.ts'
import type { MentionListener } from './mention-listener.ts'
import { withTimeLimit } from '../time-limit.ts'
import { makeRoomAnswer } from './room-answer.ts'
import { untilStored } from './until-stored.ts'

const MAX_CONCURRENT_ROOMS = 4
/** Age after which a mention is not answered any more, ms. */
const MAX_AGE = 15 * MINUTE
/** Attempts at an answer, so that a mention that crashes the server is not retried forever. */
const MAX_TRIES = 2
/** How often mentions are looked for that nobody answers: a server ended, or the database was away. */
const CHECK_MS = 15 * SECOND
/** The same after an outage of the database: those who have an answer post it first. */
const AFTER_OUTAGE_MS = 5 * SECOND

const UNANSWERED = 'I did not get to answer this; ask me again.'
const FAILED = 'Something went wrong here; ask me again.'

type Deps = Parameters<typeof makeRoomAnswer>[0] & {
  settings: Settings
  chat: Pick<Chat, 'assistantReplies'>
  mentionListener: MentionListener
  bounds: Bounds
  checkIntervalMs?: number | undefined
}

/** Answers one mention, unless another server does; posts failures in the room. Throws the reason of `end`. */
function makeAnswerMention(deps: Deps, end: AbortSignal, report: (error: unknown) => void) {
  const { database, clock, settings, chat, budgets, bounds } = deps
  const answerIn = makeRoomAnswer(deps)

  return async (mention: Mention & { content: string }): Promise<void> => {
    const { message_id: message, room_id: room, user_id: user } = mention
    const mentioned = { message, room, user, name: (await settings.values())['assistant.name'] }
    const post = (text: string) => untilStored(() => chat.assistantReplies.post(mentioned, text), end)
    const account = await accountById(database.read, user)
    const isLate = mention.asked_at < clock.now() - MAX_AGE || mention.tries >= MAX_TRIES
    if (isLate || !account || account.disabled_at !== null) return void (await post(UNANSWERED))
    const until = clock.now() + bounds.answerMs
    if (!(await chat.assistantReplies.begin(mentioned, until))) return
    let text: string
    try {
      text = await budgets.within(user, () =>
        withTimeLimit(end, bounds.answerMs, (signal) =>
          answerIn(room, { account, name: mentioned.name, content: mention.content, signal }),
        ),
      )
    } catch (error) {
      const isUntried = end.aborted
      if (isUntried || error instanceof Busy)
        return untilStored(() => chat.assistantReplies.leave(mentioned, { until, isUntried }), end)
      if (!isFault(error)) report(error)
      text = isFault(error) ? error.message : FAILED
    }
    await post(text)
  }
}

/** Answers mentions in rooms: one at a time per room, with the tools of that room only. */
export function makeMentions(deps: Deps) {
  const { database, clock, mentionListener, checkIntervalMs = CHECK_MS } = deps
  const busy = new Map<number, Promise<void>>()
  const limit = pLimit(MAX_CONCURRENT_ROOMS)
  const end = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let afterOutage: NodeJS.Timeout | undefined
  let started: Promise<void> = Promise.resolve()
  let onBug: (error: unknown) => void = () => undefined
  let hasListened = false

  /** What an outage of the database postpones is found by the next check. */
  const report = (error: unknown): void => {
    if (!(error instanceof Busy) && error !== end.signal.reason) onBug(error)
  }
  const answerMention = makeAnswerMention(deps, end.signal, report)

  /** Ends when no mention is left, or when another server answers: it goes on with the room. */
  async function answerRoom(room: number): Promise<void> {
    while (!end.signal.aborted) {
      const mention = await nextMention(database.read, room)
      if (!mention || mention.working_until > clock.now()) return
      await answerMention(mention)
    }
  }

  /** Queues behind the room's current answers, so that no mention is missed. */
  function enqueue(room: number): void {
    if (end.signal.aborted) return
    if (!hasListened) database.listen('room', { moved: () => undefined, missed: checkAfterOutage })
    hasListened = true
    const current = (busy.get(room) ?? Promise.resolve())
      .then(() => limit(() => answerRoom(room)))
      .catch(report)
      .finally(() => {
        if (busy.get(room) === current) busy.delete(room)
      })
    busy.set(room, current)
  }

  /** Queues the rooms with mentions that nobody answers. */
  async function check(): Promise<void> {
    for (const room of await roomsWithDueMentions(database.read, clock.now())) if (!busy.has(room)) enqueue(room)
  }

  const checkNow = (): Promise<void> => check().catch(report)

  function checkAfterOutage(): void {
    clearTimeout(afterOutage)
    if (!end.signal.aborted) afterOutage = setTimeout(() => void checkNow(), AFTER_OUTAGE_MS).unref()
  }

  return {
    /** Starts answering, beginning with the mentions of an earlier process. `onBug` receives bugs. */
    start(listener: (error: unknown) => void): void {
      onBug = listener
      mentionListener.onMention(enqueue)
      started = checkNow()
      timer = setInterval(() => void checkNow(), checkIntervalMs).unref()
    },

    /** Stops running answers; the next start begins them again. */
    async stop(): Promise<void> {
      end.abort()
      clearInterval(timer)
      clearTimeout(afterOutage)
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
