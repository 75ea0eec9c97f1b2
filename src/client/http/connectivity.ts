import { makeBackoff } from '../../base/retry.ts'
import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'
import { type Sleep, interruptibleSleep } from '../../base/sleep.ts'
import { retryAfterOf } from './request-retry.ts'

interface Parts {
  sleep: Sleep
  /** From 0 to 1. */
  random: () => number
  signal: AbortSignal
  /** Called again during an outage for each reason that is new. */
  lost: (error: Error) => void
  back: () => void
}

/** Delays between attempts while the server is unreachable. */
const BACKOFF = { first: 1_000, longest: 30_000, jitter: 0.5 }
/** Longest delay during maintenance, ms: rejected requests are cheap, and maintenance often ends early. */
const LONGEST_MAINTENANCE_MS = 5_000

const TEMPORARY = ['maintenance', 'busy', 'rate_limited', 'internal', 'setup_required'] as const

/** Whether waiting helps: network errors, restarts, maintenance. */
export const isTemporary = (error: unknown): error is Error =>
  error instanceof Unreachable || TEMPORARY.some((code) => isFault(error, code))

/** Tracks whether the server is reachable; reports each change once for all callers. */
export function makeConnectivity({ sleep, random, signal, lost, back }: Parts) {
  let offline = false
  /** Reasons of this outage that were reported. */
  const reported = new Set<string>()
  let losses = 0
  const backoff = makeBackoff({ ...BACKOFF, random })
  const waiting = new Set<() => void>()
  return {
    /** Call before an attempt; call the returned function when the attempt succeeded. */
    attempt(): () => void {
      const before = losses
      return () => {
        // A response to a request from before the outage proves nothing: a stopping server ends polls too.
        if (before !== losses) return
        backoff.reset()
        if (!offline) return
        offline = false
        reported.clear()
        for (const wake of waiting) wake()
        back()
      }
    },
    /** Call after a failed attempt: waits for the backoff, or until another attempt has succeeded. */
    async backOff(error: Error): Promise<void> {
      if (!offline) {
        offline = true
        losses += 1
      }
      // A message about a fault can contain the number of a request.
      const reason = isFault(error) ? error.code : error.message
      if (!reported.has(reason)) lost(error)
      reported.add(reason)
      const longest = isFault(error, 'maintenance') ? LONGEST_MAINTENANCE_MS : BACKOFF.longest
      const ms = backoff.next(Math.min(retryAfterOf(error) ?? 0, longest), longest)!
      let mine: (() => void) | undefined
      try {
        await interruptibleSleep(sleep, ms, signal, (wake) => waiting.add((mine = wake)))
      } finally {
        if (mine) waiting.delete(mine)
      }
    },
  }
}
