import { effect, signal, untracked } from '@preact/signals'
import { makeBackoff } from '../../../base/retry.ts'
import { sleep } from '../../../base/sleep.ts'
import { mergeMessages, takePoll, type Log } from '../../../client/chat/message-log.ts'
import { bridge } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import {
  current,
  removeRoom,
  isFocused,
  isTransient,
  markRead,
  me,
  updateLastMessage,
  rooms,
  type Message,
} from './store.ts'
import { markArrived } from './outbox.ts'

const PAGE = 50
/** Page size when searching far back. */
const LARGE_PAGE = 200
/** Longest wait of a long poll, seconds. */
const WAIT = 25
/** Delays while the server is unreachable, ms. */
const RETRY = { first: 500, longest: 10_000, jitter: 0.5 }
/** Time until a typing notification expires, ms. */
const TYPING_MS = 7_000

export const logs = signal<ReadonlyMap<number, Log>>(new Map())
export const logError = signal<unknown>(undefined)
export const typing = signal<AnswerOf<'teamChat.poll'>['typing']>([])
/** The first unread message when the room was opened. */
export const firstUnread = signal<number | undefined>(undefined)
export const targetMessage = signal<number | undefined>(undefined)

function updateLog(room: number, work: (log: Log) => void): void {
  const known = logs.value.get(room)
  if (!known) return
  const log = { ...known, messages: [...known.messages] }
  work(log)
  logs.value = new Map(logs.value).set(room, log)
}

export const replace = (room: number, messages: readonly Message[]): void =>
  updateLog(room, (log) => void mergeMessages(log, messages))

export const removeMessage = (room: number, message: number): void =>
  updateLog(room, (log) => (log.messages = log.messages.filter(({ message_id }) => message_id !== message)))

async function load(room_id: number, stop: AbortSignal): Promise<void> {
  const unread = rooms.value.find((one) => one.room_id === room_id)?.unread_count ?? 0
  if (!logs.value.has(room_id)) {
    const answer = await bridge.call('teamChat.messages', { room_id, limit: PAGE }, { signal: stop })
    const created = rooms.value.find((one) => one.room_id === room_id)?.created_at
    const position = answer.messages.at(-1)?.timestamp ?? created ?? new Date().toISOString()
    const log = { messages: answer.messages, hasMore: answer.has_more, position }
    logs.value = new Map(logs.value).set(room_id, log)
  }
  const others = logs.value.get(room_id)!.messages.filter(({ user_id }) => user_id !== me())
  firstUnread.value = unread > 0 ? others.at(-unread)?.message_id : undefined
  logError.value = undefined
  markRead(room_id)
}

let typingTimer: ReturnType<typeof setTimeout> | undefined

async function poll(room_id: number, stop: AbortSignal): Promise<void> {
  const after = logs.value.get(room_id)!.position
  const polled = await bridge.call('teamChat.poll', { room_id, after, wait: WAIT }, { signal: stop })
  let fresh: Message[] = []
  updateLog(room_id, (log) => (fresh = takePoll(log, polled)))
  typing.value = polled.typing.filter(({ user_id }) => user_id !== me())
  clearTimeout(typingTimer)
  typingTimer = setTimeout(() => (typing.value = []), TYPING_MS)
  if (fresh.length === 0) return
  fresh.forEach(updateLastMessage)
  fresh.filter(({ user_id }) => user_id === me()).forEach(markArrived)
  const theirs = fresh.find(({ user_id }) => user_id !== me())
  if (theirs && !isFocused()) firstUnread.value ??= theirs.message_id
  markRead(room_id)
}

/** Follows a room until aborted; removes the room if the user is no longer in it. */
async function followRoom(room_id: number, stop: AbortSignal): Promise<void> {
  const backoff = makeBackoff(RETRY)
  let isOpen = false
  while (!stop.aborted) {
    try {
      if (!isOpen) await load(room_id, stop)
      isOpen = true
      await poll(room_id, stop)
      backoff.reset()
    } catch (error) {
      if (stop.aborted) return
      if (error instanceof ApiError && ['forbidden', 'not_found'].includes(error.code)) return removeRoom(room_id)
      if (!isOpen) logError.value = error
      if (!isTransient(error)) return
      typing.value = []
      const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) : 0
      await sleep(backoff.next(retryAfter * 1_000)!, stop).catch(() => undefined)
    }
  }
}

export const followCurrent = (): (() => void) =>
  effect(() => {
    const room_id = current.value
    const stop = new AbortController()
    untracked(() => {
      typing.value = []
      firstUnread.value = undefined
      logError.value = undefined
      if (room_id !== undefined) void followRoom(room_id, stop.signal)
    })
    return () => stop.abort(new Error('Another room was opened.'))
  })

export async function loadOlder(room_id: number, limit = PAGE): Promise<void> {
  const log = logs.value.get(room_id)
  const before = log?.messages[0]?.timestamp
  if (!log?.hasMore || before === undefined) return
  const answer = await bridge.call('teamChat.messages', { room_id, before, limit })
  updateLog(room_id, (known) => {
    mergeMessages(known, answer.messages)
    known.hasMore = answer.has_more
  })
}

export async function jumpTo({ room_id, message_id }: Pick<Message, 'room_id' | 'message_id'>): Promise<void> {
  current.value = room_id
  const isLoaded = () => logs.value.get(room_id)?.messages.some((one) => one.message_id === message_id)
  if (!logs.value.has(room_id)) {
    const { messages, has_more } = await bridge.call('teamChat.messages', { room_id, limit: LARGE_PAGE })
    const position = messages.at(-1)?.timestamp
    if (!logs.value.has(room_id) && position !== undefined)
      logs.value = new Map(logs.value).set(room_id, { messages, hasMore: has_more, position })
  }
  while (current.value === room_id && !isLoaded() && logs.value.get(room_id)?.hasMore)
    await loadOlder(room_id, LARGE_PAGE)
  if (isLoaded()) targetMessage.value = message_id
}
