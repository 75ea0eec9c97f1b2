import { DAY, MINUTE, type Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import {
  backupCodesOf,
  bypassCodeOf,
  secondFactorOf,
  storeFailures,
  takeBackupCode,
  takeBypassCode,
  takeStep,
} from '../../storage/accounts/second-factors.ts'
import { findBackupCode, hashBackupCodes, readBackupCode } from './backup-codes.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import type { Queue } from './job-queue.ts'
import { lockEnd, secondsUntil } from './account-faults.ts'
import { unseal } from './sealing.ts'
import { isTotpCode, matchingStep } from './totp.ts'

const FAILURES_PER_LOCK = 5
const FIRST_LOCK_MS = 15 * MINUTE
const LONGEST_LOCK_MS = DAY

/** Consecutive wrong codes after which only an administrator unlocks the second factor (NIST SP 800-63B-4, 3.2.2). */
const MAX_FAILURES = 100

/** A parsed code, hashed before the transaction that uses it. */
export type Proof = { totp: string } | { backupHash: string } | undefined

type Kind = 'totp' | 'backup_code' | 'bypass'

/** What a code is for. Only a login accepts backup codes, bypass codes and the TOTP code that enabled the factor. */
export type Purpose = 'login' | 'settings'

export interface CodeVerifier {
  /** Throws `account_locked` while the account's codes are locked. */
  assertOpen(on: Reader, user: number): Promise<void>
  /** Parses a typed code; undefined if it has neither form. */
  read(user: number, text: string, purpose: Purpose): Promise<Proof>
  /** Checks a code and consumes it: each TOTP step, backup and bypass code works once. Counts a wrong one. */
  use(tx: Writer, user: number, proof: Proof, purpose: Purpose, from: RequestOrigin | undefined): Promise<boolean>
}

/** Duration of the lock after this many consecutive wrong codes, ms: every fifth doubles it, up to a day. */
export function lockAfter(failures: number): number {
  if (failures === 0 || failures % FAILURES_PER_LOCK !== 0) return 0
  return Math.min(LONGEST_LOCK_MS, FIRST_LOCK_MS * 2 ** (failures / FAILURES_PER_LOCK - 1))
}

/** When the lock of an account's codes ends; null if they are not locked. */
export const codesLockedUntil = (failures: number, lockedUntil: number, now: number): number | null =>
  lockEnd(lockedUntil, now, lockAfter(failures))

/** Whether only an administrator can unlock it. */
export const isClosed = (failures: number): boolean => failures >= MAX_FAILURES

/** Additional data of a sealed TOTP secret: binds it to its account's row. */
export const sealContext = (user: number): string => `second factor of user ${user}`

export interface CodeVerifierDeps {
  database: Database
  clock: Clock
  sealKey: Uint8Array
  queue: Queue
  audit: Audit
}

/**
 * Verifies second factors. The failure count belongs to the account and survives correct passwords: with a constant lock of
 * 15 minutes, an attacker who knows the password would guess a code within two years.
 */
export function makeCodeVerifier({ database, clock, sealKey, queue, audit }: CodeVerifierDeps): CodeVerifier {
  async function takeCode(tx: Writer, user: number, hash: string): Promise<Kind | undefined> {
    const backup = findBackupCode(await backupCodesOf(tx, user), hash)
    if (backup) return (await takeBackupCode(tx, backup.id)) ? 'backup_code' : undefined
    const bypass = await bypassCodeOf(tx, user, clock.now())
    const found = bypass && findBackupCode([bypass], hash)
    return found && (await takeBypassCode(tx, found)) ? 'bypass' : undefined
  }

  async function verify(tx: Writer, user: number, proof: Proof, purpose: Purpose): Promise<Kind | undefined> {
    if (!proof) return undefined
    const factor = await secondFactorOf(tx, user)
    if (!factor?.secret) return undefined
    if ('backupHash' in proof) return takeCode(tx, user, proof.backupHash)
    const step = matchingStep(unseal(sealKey, sealContext(user), factor.secret), proof.totp, clock.now())
    if (step === undefined || (purpose !== 'login' && step <= factor.enrolled_step)) return undefined
    return (await takeStep(tx, user, step)) ? 'totp' : undefined
  }

  async function countFailure(tx: Writer, user: number, from: RequestOrigin | undefined): Promise<void> {
    const failures = ((await secondFactorOf(tx, user))?.failures ?? 0) + 1
    const lock = lockAfter(failures)
    await storeFailures(tx, user, failures, clock.now() + lock)
    await audit.record(tx, { kind: '2fa.failed', from, about: user })
    if (lock > 0) await audit.record(tx, { kind: '2fa.locked', from, about: user, detail: { minutes: lock / MINUTE } })
  }

  return {
    async assertOpen(on, user) {
      const factor = await secondFactorOf(on, user)
      if (!factor) return
      const now = clock.now()
      if (isClosed(factor.failures)) {
        const text = 'Too many wrong codes in a row; an administrator has to unlock the account.'
        throw fault('account_locked', { text, retryAfter: LONGEST_LOCK_MS / 1_000 })
      }
      const end = codesLockedUntil(factor.failures, factor.locked_until, now)
      if (end !== null) throw fault('account_locked', { retryAfter: secondsUntil(end, now) })
    },
    async read(user, text, purpose) {
      const typed = text.replace(/\s/g, '')
      if (isTotpCode(typed)) return { totp: typed }
      const code = purpose === 'login' ? readBackupCode(typed) : undefined
      if (!code) return undefined
      const salt = (await secondFactorOf(database.read, user))?.code_salt
      if (!salt) return undefined
      const [backupHash] = await hashBackupCodes(queue, [code], salt)
      return { backupHash: backupHash! }
    },
    async use(tx, user, proof, purpose, from) {
      const kind = await verify(tx, user, proof, purpose)
      if (!kind) {
        await countFailure(tx, user, from)
        return false
      }
      await storeFailures(tx, user, 0, 0)
      if (kind !== 'totp') await audit.record(tx, { kind: `2fa.${kind}_used`, by: user, from, about: user })
      return true
    },
  }
}
