import { signal } from '@preact/signals'
import { makeBackoff } from '../../base/retry.ts'
import { ApiError } from '../kit/api-error.ts'
import type { AnswerOf } from '../wire/actions.ts'
import type { Change } from '../wire/protocol.ts'
import { call } from './session.ts'

/** False while the server cannot be reached. */
export const online = signal(true)
/** Message of the server during maintenance. */
export const maintenance = signal<string | undefined>(undefined)

type Listener = (changes: readonly Change[], reset: boolean) => void

const listeners = new Set<Listener>()

/** Subscribes to changes of the account's rows; returns a function that unsubscribes. */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const notifyListeners = (changes: readonly Change[], reset: boolean): void => {
  for (const listener of listeners) listener(changes, reset)
}

/** Longest wait of a long poll, seconds. */
const POLL_SECONDS = 50
/** Shortest interval between requests of hidden tabs while nothing changes, ms. */
const HIDDEN_INTERVAL = 60_000
/** Delays after refused requests, and the longest one while the server is unreachable, ms. */
export const REFUSED = { first: 1_000, longest: 30_000, jitter: 0.5 }
const LONGEST_UNREACHABLE = 4_000
export const LONGEST_RETRY_AFTER = 60_000

let wake = (): void => {}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })

/** Retries at once if the server was unreachable. */
export function checkConnection(): void {
  if (!online.value) wake()
}

addEventListener('online', () => wake())
document.addEventListener('visibilitychange', () => wake())

interface Position {
  cursor: number
  epoch: string
}

/**
 * Waits for changes. Browsers limit the connections to a server, so of all hidden tabs only the one that holds the lock
 * uses long polling; the others poll. Browsers throttle timers of hidden tabs, so long polling is preferred where locks
 * exist.
 */
async function poll(position: Position, wait: number) {
  const request = (seconds: number) => call('rows.delta', { ...position, wait: seconds })
  if (!document.hidden) return request(wait)
  const requestLater = () => pause(HIDDEN_INTERVAL).then(() => request(0))
  async function requestSeldom() {
    const startedAt = performance.now()
    const answer = await request(wait)
    if (document.hidden && answer.changes.length === 0) await pause(HIDDEN_INTERVAL - (performance.now() - startedAt))
    return answer
  }
  if (!('locks' in navigator)) return requestLater()
  return navigator.locks.request('svc-hidden-poll', { ifAvailable: true }, (lock) =>
    lock ? requestSeldom() : requestLater(),
  )
}

/** Follows the feed while the page is open. */
export async function followFeed(): Promise<void> {
  let position: Position | undefined
  let isUnreachable = false
  const backoff = makeBackoff(REFUSED)
  for (;;) {
    try {
      if (position === undefined) {
        const { cursor, epoch } = await call('rows.list', { tables: 'svc_rooms' })
        position = { cursor, epoch }
      } else {
        const { changes, cursor }: AnswerOf<'rows.delta'> = await poll(position, isUnreachable ? 0 : POLL_SECONDS)
        position = { ...position, cursor }
        if (changes.length > 0) notifyListeners(changes as Change[], false)
      }
      isUnreachable = false
      backoff.reset()
      online.value = true
      maintenance.value = undefined
    } catch (error) {
      const { code, message, retryAfter } =
        error instanceof ApiError ? error : new ApiError({ code: 'internal', message: '' })
      if (code === 'cursor_expired' || code === 'epoch_mismatch') {
        position = undefined
        notifyListeners([], true)
        continue
      }
      online.value = code !== 'unreachable'
      maintenance.value = code === 'maintenance' ? message : undefined
      isUnreachable = true
      const longest = online.value || document.hidden ? REFUSED.longest : LONGEST_UNREACHABLE
      await pause(backoff.next(Math.min((retryAfter ?? 0) * 1_000, LONGEST_RETRY_AFTER), longest)!)
    }
  }
}
