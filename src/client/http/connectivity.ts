import { isFault } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'
import { type Sleep, interruptibleSleep } from './sleep.ts'

interface Parts {
  sleep: Sleep
  /** From 0 to 1. */
  random: () => number
  signal: AbortSignal
  lost: (error: Error) => void
  back: () => void
}

/** Pauses between attempts while the server is away, in milliseconds; each is shortened by up to a half, so that clients come back one by one. */
const FIRST_MS = 1_000
const LONGEST_MS = 30_000
/** The same under maintenance: the server is there and refuses in no time, and its end is often earlier than planned. */
const LONGEST_MAINTENANCE_MS = 5_000

const TEMPORARY = ['maintenance', 'busy', 'rate_limited', 'internal', 'setup_required'] as const

/** Whether waiting helps: the network, a restart, maintenance. */
export const isTemporary = (error: unknown): error is Error =>
  error instanceof Unreachable || TEMPORARY.some((code) => isFault(error, code))

/** Tracks whether the server is reachable; reports each change once, however many callers there are. */
export function makeConnectivity({ sleep, random, signal, lost, back }: Parts) {
  let offline = false
  let attempts = 0
  let losses = 0
  const waiting = new Set<() => void>()
  return {
    /** Call before an attempt; call the returned function when the attempt succeeded. */
    attempt(): () => void {
      const before = losses
      return () => {
        // An answer to what was asked before the server went away, such as a poll that a stopping server lets go, says nothing.
        if (before !== losses) return
        attempts = 0
        if (!offline) return
        offline = false
        for (const wake of waiting) wake()
        back()
      }
    },
    /** Call after a failed attempt: waits out the backoff, or until another attempt succeeded. */
    async backOff(error: Error): Promise<void> {
      if (!offline) {
        offline = true
        losses += 1
        lost(error)
      }
      const asked = isFault(error) ? (error.extra.retryAfter ?? 0) * 1_000 : 0
      const longest = isFault(error, 'maintenance') ? LONGEST_MAINTENANCE_MS : LONGEST_MS
      const ms = Math.min(longest, Math.max(asked, FIRST_MS * 2 ** Math.min(attempts, 5)))
      attempts += 1
      let mine: (() => void) | undefined
      try {
        await interruptibleSleep(sleep, ms * (1 - random() / 2), signal, (wake) => waiting.add((mine = wake)))
      } finally {
        if (mine) waiting.delete(mine)
      }
    },
  }
}
