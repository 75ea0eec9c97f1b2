import type { Clock } from '../../base/clock.ts'
import type { AnyAction } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../trouble.ts'

/** How many requests of one kind a server takes, in a sliding window of `per` seconds; by the limit's name. */
export type Limits = Record<string, { max: number; per: number }>

/** Times of past requests by the limit's name, in milliseconds since the epoch, oldest first. */
export type Calls = Record<string, number[]>

/** Waits until `ms` have passed; rejects with the signal's reason when it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

/** Does one request when the server's limits allow it, again when it was refused for coming too early, or got lost on the way. */
export type Pace = <T>(action: Pick<AnyAction, 'limit'>, request: () => Promise<T>) => Promise<T>

export interface PaceParts {
  limits: () => Limits
  /** Requests that earlier runs made: a server's window does not begin anew with a process. */
  calls: Calls
  clock: Clock
  sleep: Sleep
  signal?: AbortSignal | undefined
  /** Told of waits of a second and more. */
  onWait?: (limit: string, ms: number) => void
}

/** The server's window and ours do not begin at the same moment. */
const SLACK_MS = 150
const BUSY_MS = 2_000
const BUSY_TRIES = 6
/** Pauses before a request that got lost is sent again; every request of the engine may be sent twice. */
const LOST_MS = [500, 2_000]

interface Queue {
  /** Requests have their turns one after another. */
  tail: Promise<void>
  /** Not before this time. */
  paused: number
}

/** One sliding window for each limited action. Others go on while one waits. */
export function makePace({ limits, calls, clock, sleep, signal, onWait }: PaceParts): {
  pace: Pace
  count: () => number
} {
  const queues = new Map<string, Queue>()
  let count = 0
  /** Whether the server ever answered: one that is not there is not worth a second try. */
  let reached = false

  function queueOf(limit: string): Queue {
    let queue = queues.get(limit)
    if (!queue) queues.set(limit, (queue = { tail: Promise.resolve(), paused: 0 }))
    return queue
  }

  async function wait(limit: string, ms: number): Promise<void> {
    if (ms >= 1_000) onWait?.(limit, ms)
    await sleep(ms, signal)
  }

  async function turn(limit: string): Promise<number> {
    for (;;) {
      signal?.throwIfAborted()
      const now = clock.now()
      const rule = limits()[limit]
      const window = (calls[limit] ??= [])
      // A time in the future is one from before the clock was put right.
      while (rule && window.length > 0 && (window[0]! <= now - rule.per * 1_000 || window[0]! > now)) window.shift()
      const full =
        rule && window.length >= rule.max ? window[window.length - rule.max]! + rule.per * 1_000 + SLACK_MS - now : 0
      const ms = Math.max(full, queueOf(limit).paused - now)
      if (ms <= 0) {
        if (rule) window.push(now)
        return now
      }
      await wait(limit, ms)
    }
  }

  function takeTurn(limit: string): Promise<number> {
    const queue = queueOf(limit)
    const mine = queue.tail.then(() => turn(limit))
    queue.tail = mine.then(
      () => undefined,
      // The one whose turn it was is told; those behind it find out for themselves.
      () => undefined,
    )
    return mine
  }

  const pace: Pace = async (action, request) => {
    const limit = action.limit
    for (let busy = 0, lost = 0; ;) {
      const at = limit === 'none' ? undefined : await takeTurn(limit)
      count += 1
      try {
        const answer = await request()
        reached = true
        return answer
      } catch (error) {
        signal?.throwIfAborted()
        reached ||= isFault(error)
        if (isFault(error, 'rate_limited')) {
          const window = calls[limit] ?? []
          const index = at === undefined ? -1 : window.lastIndexOf(at)
          // A refused request does not count.
          if (index >= 0) window.splice(index, 1)
          queueOf(limit).paused = clock.now() + (error.extra.retryAfter ?? 1) * 1_000 + SLACK_MS
        } else if (isFault(error, 'busy') && busy < BUSY_TRIES) {
          busy += 1
          await wait(limit, error.extra.retryAfter === undefined ? BUSY_MS : error.extra.retryAfter * 1_000)
        } else if (isLost(error) && reached && lost < LOST_MS.length) await wait(limit, LOST_MS[lost++]!)
        else throw error
      }
    }
  }
  return { pace, count: () => count }
}

/** Whether a request may have got lost on the way; a whole answer of somebody else is an answer. */
const isLost = (error: unknown): boolean =>
  error instanceof Unreachable && (error.status === undefined || error.status >= 500)

/** The real thing. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
