import { monotonicOf, type Clock } from '../../base/clock.ts'
import { makeBackoff } from '../../base/retry.ts'

/** Rate limits: `max` requests in a sliding window of `per` seconds, by name. */
export type Limits = Record<string, { max: number; per: number }>

/** Times of past requests by limit, epoch ms, oldest first. */
export type Calls = Record<string, number[]>

/** Tolerance, because the server's window does not start at the same moment. */
const SLACK_MS = 150
/** Increasing pauses after rate-limited requests, ms. */
const PAUSES = { first: 1_000, longest: 600_000, attempts: 13 }
const KEEP_MS = 2_000

interface Queue {
  /** Requests of a limit wait for each other. */
  tail: Promise<void>
  /** Not before this time, by the monotonic clock. */
  paused: number
  /** Counts consecutive pauses without a successful request. */
  backoff: ReturnType<typeof makeBackoff>
}

interface Parts {
  limits: () => Limits
  /** Requests so far, including earlier runs. */
  calls: Calls
  clock: Clock
  signal: AbortSignal | undefined
  /** Stores `calls`. */
  keep: (() => void) | undefined
  wait: (limit: string, ms: number) => Promise<void>
}

/** Grants requests in order, each when its window has room and its limit is not paused. */
export function makeRateLimiter({ limits, calls, clock, signal, keep, wait }: Parts) {
  const queues = new Map<string, Queue>()
  let kept = monotonicOf(clock)

  function queueOf(limit: string): Queue {
    let queue = queues.get(limit)
    if (!queue)
      queues.set(limit, (queue = { tail: Promise.resolve(), paused: -Infinity, backoff: makeBackoff(PAUSES) }))
    return queue
  }

  const pauseOf = (limit: string): number => Math.max(0, queueOf(limit).paused - monotonicOf(clock))

  function keepCalls(): void {
    kept = monotonicOf(clock)
    keep?.()
  }

  async function nextTurn(limit: string): Promise<number> {
    for (;;) {
      signal?.throwIfAborted()
      const now = clock.now()
      const rule = limits()[limit]
      const window = (calls[limit] = inWindow(calls[limit], rule, now))
      const ms = Math.max(nextIn(window, rule, now), pauseOf(limit))
      if (ms <= 0) {
        if (rule) window.push(now)
        if (monotonicOf(clock) - kept >= KEEP_MS) keepCalls()
        return now
      }
      if (ms >= KEEP_MS) keepCalls()
      await wait(limit, ms)
    }
  }

  return {
    /** Resolves with the time when the request may be sent. */
    acquire(limit: string): Promise<number> {
      const queue = queueOf(limit)
      const mine = queue.tail.then(() => nextTurn(limit))
      queue.tail = mine.then(
        () => undefined,
        // Only this caller gets the error; later requests try for themselves.
        () => undefined,
      )
      return mine
    },

    answered: (limit: string): void => queueOf(limit).backoff.reset(),

    /** A rate-limited request does not count and pauses its limit. Returns the pause in ms; undefined to give up. */
    pause(limit: string, at: number | undefined, retryAfter = 0): number | undefined {
      const window = calls[limit] ?? []
      const index = at === undefined ? -1 : window.lastIndexOf(at)
      if (index >= 0) window.splice(index, 1)
      const queue = queueOf(limit)
      const now = monotonicOf(clock)
      const least = Math.min(retryAfter, PAUSES.longest)
      // Concurrent requests that are rejected together cause one pause.
      const ms = queue.paused > now ? least : queue.backoff.next(least)
      if (ms === undefined) return undefined
      queue.paused = Math.max(queue.paused, now + ms + SLACK_MS)
      return queue.paused - now
    },

    /** Milliseconds until this many more requests of a limit are granted. */
    estimateWait(limit: string, requests: number): number {
      const now = clock.now()
      const rule = limits()[limit]
      const pause = pauseOf(limit)
      if (!rule) return requests > 0 ? pause : 0
      const times = inWindow(calls[limit], rule, now)
      let last = now
      for (let left = requests; left > 0; left -= 1) {
        last = now + Math.max(pause, nextIn(times, rule, now))
        times.push(last)
      }
      return last - now
    },
  }
}

type Rule = Limits[string] | undefined

/** The requests that still count. A time in the future predates a correction of the clock. */
const inWindow = (times: readonly number[] = [], rule: Rule, now: number): number[] =>
  rule ? times.filter((at) => at > now - rule.per * 1_000 && at <= now) : [...times]

/** Milliseconds until a window accepts another request. */
const nextIn = (times: readonly number[], rule: Rule, now: number): number =>
  rule && times.length >= rule.max ? times[times.length - rule.max]! + rule.per * 1_000 + SLACK_MS - now : 0
