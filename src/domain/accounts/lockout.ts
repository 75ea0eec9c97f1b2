import { createHmac } from 'node:crypto'
import { MINUTE, type Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import {
  clearThrottle,
  locks,
  pruneThrottles,
  storeThrottle,
  throttleOf,
  type Throttle,
} from '../../storage/accounts/login-throttles.ts'
import { lockEnd, secondsUntil } from './account-faults.ts'

const FAILURES = 5
const WINDOW_MS = 15 * MINUTE
const LOCK_MS = 15 * MINUTE

/** Names at most: anyone can fail at any name, so the table must be bounded. */
const MAX_NAMES = 100_000
const PRUNE_EVERY_MS = MINUTE

function assertUnlocked({ lockedUntil }: Throttle, now: number): void {
  const end = lockEnd(lockedUntil, now, LOCK_MS)
  if (end !== null) throw fault('account_locked', { retryAfter: secondsUntil(end, now) })
}

export interface Lockout {
  assertOpen(on: Reader, name: string): Promise<void>
  /**
   * Counts a failed login; the fifth within 15 minutes locks the name for 15 minutes. Returns whether this one locked it. Throws
   * `account_locked` where another process has locked the name meanwhile: the guess must not be told to be wrong.
   */
  fail(tx: Writer, name: string): Promise<boolean>
  /** Whether `prune` was not called for a minute. */
  isPruneDue(): boolean
  /** Bounds the names that are remembered. */
  prune(tx: Writer): Promise<void>
  /** Clears failures and lock, after a completed login or by an administrator. */
  clear(tx: Writer, name: string): Promise<void>
  /** When the lock of each name ends, epoch ms; names without a lock are omitted. */
  lockedUntil(on: Reader, names: readonly string[]): Promise<Map<string, number>>
}

/** Counts failed logins per name, whether or not it exists: the response must not reveal which names do. */
export function makeLockout({ clock, key }: { clock: Clock; key: Uint8Array }): Lockout {
  // A keyed hash, so that the table cannot be searched for typed names: some are passwords.
  const hashOf = (name: string) => createHmac('sha256', key).update(name).digest('hex')
  let pruneAt = 0

  return {
    async assertOpen(on, name) {
      assertUnlocked(await throttleOf(on, hashOf(name)), clock.now())
    },
    async fail(tx, name) {
      const now = clock.now()
      const hash = hashOf(name)
      const before = await throttleOf(tx, hash)
      assertUnlocked(before, now)
      // Later times were counted while the clock was ahead.
      const failedAt = [...before.failedAt.filter((time) => Math.abs(now - time) < WINDOW_MS), now]
      const locked = failedAt.length >= FAILURES
      const after = locked ? { failedAt: [], lockedUntil: now + LOCK_MS } : { failedAt, lockedUntil: 0 }
      await storeThrottle(tx, hash, after, now + Math.max(WINDOW_MS, LOCK_MS))
      return locked
    },
    isPruneDue: () => clock.now() >= pruneAt,
    async prune(tx) {
      const now = clock.now()
      pruneAt = now + PRUNE_EVERY_MS
      await pruneThrottles(tx, now, MAX_NAMES)
    },
    async clear(tx, name) {
      await clearThrottle(tx, hashOf(name))
    },
    async lockedUntil(on, names) {
      const now = clock.now()
      const ends = await locks(on, now)
      // Hashing all names is slow, and usually none is locked.
      if (ends.size === 0) return new Map()
      return new Map(
        names.flatMap((name): [string, number][] => {
          const end = lockEnd(ends.get(hashOf(name)) ?? 0, now, LOCK_MS)
          return end === null ? [] : [[name, end]]
        }),
      )
    },
  }
}
