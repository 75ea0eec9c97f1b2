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
} from '../../storage/accounts/login-throttles.ts'
import { secondsUntil } from './refusals.ts'

const FAILURES = 5
const WINDOW_MS = 15 * MINUTE
const LOCK_MS = 15 * MINUTE

/** Names kept at most: anybody may fail at any name, so the table must not grow with them. */
const MAX_NAMES = 100_000
const PRUNE_EVERY_MS = MINUTE

export interface Lockout {
  /** Throws `account_locked` while the name is locked. */
  assertOpen(on: Reader, name: string): Promise<void>
  /** Counts a failed login; the fifth within 15 minutes locks the name for 15 minutes. Returns whether this one did. */
  fail(tx: Writer, name: string): Promise<boolean>
  /** After a complete login, or by an administrator: forgets failures and lock. */
  clear(tx: Writer, name: string): Promise<void>
  /** When the lock of each of these names ends; names that are not locked are left out. */
  lockedUntil(on: Reader, names: readonly string[]): Promise<Map<string, number>>
}

/** Counts failed logins by name, whether somebody has it or not: what happens must not tell which names exist. */
export function makeLockout({ clock, key }: { clock: Clock; key: Uint8Array }): Lockout {
  // Keyed, so that the table cannot be searched for what people typed, which now and then is a password.
  const hashOf = (name: string) => createHmac('sha256', key).update(name).digest('hex')
  let pruneAt = 0

  return {
    async assertOpen(on, name) {
      const now = clock.now()
      const { lockedUntil } = await throttleOf(on, hashOf(name))
      if (lockedUntil > now) throw fault('account_locked', { retryAfter: secondsUntil(lockedUntil, now) })
    },
    async fail(tx, name) {
      const now = clock.now()
      const hash = hashOf(name)
      const before = await throttleOf(tx, hash)
      // Another process may have locked the name meanwhile, and nothing prolongs a lock.
      if (before.lockedUntil > now) return false
      const failedAt = [...before.failedAt.filter((time) => time > now - WINDOW_MS), now]
      const locked = failedAt.length >= FAILURES
      const after = locked ? { failedAt: [], lockedUntil: now + LOCK_MS } : { failedAt, lockedUntil: 0 }
      await storeThrottle(tx, hash, after, now + Math.max(WINDOW_MS, LOCK_MS))
      if (now >= pruneAt) {
        pruneAt = now + PRUNE_EVERY_MS
        await pruneThrottles(tx, now, MAX_NAMES)
      }
      return locked
    },
    async clear(tx, name) {
      await clearThrottle(tx, hashOf(name))
    },
    async lockedUntil(on, names) {
      const ends = await locks(on, clock.now())
      // Hashing all names takes a while, and mostly nobody is locked.
      if (ends.size === 0) return new Map()
      return new Map(
        names.flatMap((name): [string, number][] => {
          const end = ends.get(hashOf(name))
          return end === undefined ? [] : [[name, end]]
        }),
      )
    },
  }
}
