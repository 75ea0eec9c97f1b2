import { signal } from '@preact/signals'
import { makeBackoff } from '../../base/retry.ts'
import { Trouble } from '../kit/trouble.ts'
import type { Change } from '../wire/protocol.ts'
import { call } from './session.ts'

/** False while the server cannot be reached. */
export const online = signal(true)
/** What the service says while it is under maintenance. */
export const maintenance = signal<string | undefined>(undefined)

type Listener = (changes: readonly Change[], reset: boolean) => void

const listeners = new Set<Listener>()

/** Hears of every change of the account's rows, until the function answered is called. */
export function onChanges(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const tell = (changes: readonly Change[], reset: boolean): void => {
  for (const listener of listeners) listener(changes, reset)
}

/** Seconds that a question waits for news. */
const WAIT = 50
/** Milliseconds between questions of a page that nobody sees: it must not take one of the few connections of a browser. */
const HIDDEN_PAUSE = 60_000
/** Milliseconds between questions while the server does not answer. */
const AWAY = { first: 1_000, longest: 30_000, jitter: 0.5 }
const LONGEST_RETRY_AFTER = 60_000

let wake = (): void => {}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })

addEventListener('online', () => wake())
document.addEventListener('visibilitychange', () => wake())

/** Follows the feed for as long as the page is there. */
export async function follow(): Promise<void> {
  let position: { cursor: number; epoch: string } | undefined
  let isAway = false
  const backoff = makeBackoff(AWAY)
  for (;;) {
    try {
      if (position === undefined) {
        const { cursor, epoch } = await call('rows.list', { tables: 'svc_rooms' })
        position = { cursor, epoch }
      } else {
        if (document.hidden) await pause(HIDDEN_PAUSE)
        const wait: number = document.hidden || isAway ? 0 : WAIT
        const { changes, cursor } = await call('rows.delta', { ...position, wait })
        position = { ...position, cursor }
        if (changes.length > 0) tell(changes as Change[], false)
      }
      isAway = false
      backoff.reset()
      online.value = true
      maintenance.value = undefined
    } catch (error) {
      const { code, message, retryAfter } =
        error instanceof Trouble ? error : new Trouble({ code: 'internal', message: '' })
      if (code === 'cursor_expired' || code === 'epoch_mismatch') {
        position = undefined
        tell([], true)
        continue
      }
      online.value = code !== 'unreachable'
      maintenance.value = code === 'maintenance' ? message : undefined
      isAway = true
      await pause(backoff.next(Math.min((retryAfter ?? 0) * 1_000, LONGEST_RETRY_AFTER))!)
    }
  }
}
