import { DAY, iso, MINUTE, SECOND, type Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountById, type Account } from '../../storage/accounts/accounts.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { deletePendingLoginsOf } from '../../storage/accounts/pending-logins.ts'
import {
  deleteSecondFactor,
  factorStates,
  replaceBackupCodes,
  secondFactorOf,
  storeBypassCode,
  type FactorState,
} from '../../storage/accounts/second-factors.ts'
import { deleteSessionsOf } from '../../storage/accounts/sessions.ts'
import type { Audit } from '../instance/instance.ts'
import { assertOther, auditActor, type Actor } from './actor.ts'
import { hashBackupCodes, makeCodes, newBackupCode, newSalt } from './backup-codes.ts'
import { codesLockedUntil, isClosed } from './code-verifier.ts'
import type { Queue } from './job-queue.ts'
import { invalidField } from './account-faults.ts'
import { missingUser, orNotFound } from './user.ts'

/** Time from the secret to the first code, ms. */
export const SETUP_MS = 10 * MINUTE

/** Lifetime of a bypass code, ms. */
const BYPASS_MS = { min: SECOND, max: DAY } as const

const OWN_FACTOR = 'The own second factor is changed in the settings, with a code of it.'

export interface TwoFactorStatus {
  user_id: number
  username: string
  role: FactorState['role']
  disabled: boolean
  enabled: boolean
  /** When it was enabled, epoch ms; null if it is off. */
  enabled_at: number | null
  backup_codes_left: number
  /** When the lock after too many wrong codes ends, epoch ms; null if none. */
  locked_until: number | null
  /** Whether only an administrator can end that lock. */
  closed: boolean
  /** Until when a pending set-up can be completed, epoch ms; null if none. */
  set_up_until: number | null
  /** When the bypass code expires, epoch ms; null if none. */
  bypass_until: number | null
}

export interface TwoFactorAdministration {
  /** The second factor of one account. Throws `not_found`. */
  status(user: number): Promise<TwoFactorStatus>
  /** The second factors of all accounts, ordered by name. */
  overview(): Promise<TwoFactorStatus[]>
  /**
   * Removes the second factor at once: secret, backup and bypass codes, a pending set-up, pending logins and the sessions.
   * Returns what there was; without a factor nothing changes.
   */
  reset(user: number, actor?: Actor): Promise<{ was: 'on' | 'set_up' | 'off'; sessions: number }>
  /**
   * Creates a code that replaces the second factor for one login within `ttl` milliseconds, and replaces an earlier one.
   * The factor stays on. Throws `conflict` without a factor or for a disabled account, `bad_request` for a ttl out of
   * bounds.
   */
  bypass(user: number, ttl: number, actor?: Actor): Promise<{ code: string; expires_at: number }>
  /** Replaces the backup codes. Throws `conflict` if the second factor is off. */
  renewBackupCodes(user: number, actor?: Actor): Promise<string[]>
}

interface Deps {
  database: Database
  clock: Clock
  queue: Queue
  audit: Audit
}

/** Administration of second factors without their codes. */
export function makeTwoFactorAdministration({ database, clock, queue, audit }: Deps): TwoFactorAdministration {
  function statusAt(now: number) {
    const ahead = (moment: number | null): number | null => (moment !== null && moment > now ? moment : null)
    return ({
      failures,
      locked_until,
      backup_codes,
      pending_at,
      bypass_until,
      disabled_at,
      ...state
    }: FactorState) => ({
      ...state,
      disabled: disabled_at !== null,
      enabled: state.enabled_at !== null,
      backup_codes_left: backup_codes,
      locked_until: codesLockedUntil(failures, locked_until, now),
      closed: isClosed(failures),
      set_up_until: ahead(pending_at === null ? null : pending_at + SETUP_MS),
      bypass_until: ahead(bypass_until),
    })
  }

  return {
    async status(user) {
      const [state] = await factorStates(database.read, user)
      if (!state) throw missingUser(`#${user}`)
      return statusAt(clock.now())(state)
    },
    overview: async () => (await factorStates(database.read)).map(statusAt(clock.now())),
    reset: (user, actor) =>
      database.write({ accounts: [user] }, async (tx) => {
        assertOther(actor, user, OWN_FACTOR)
        await orNotFound(accountById(tx, user))
        const factor = await secondFactorOf(tx, user)
        if (!factor) return { was: 'off', sessions: 0 }
        const was = factor.secret ? 'on' : 'set_up'
        await deleteSecondFactor(tx, user)
        await deletePendingLoginsOf(tx, user)
        const sessions = await deleteSessionsOf(tx, user)
        await audit.record(tx, {
          kind: '2fa.reset',
          ...auditActor(user, actor),
          detail: { was, sessions_ended: sessions },
        })
        return { was, sessions }
      }),
    async bypass(user, ttl, actor) {
      assertOther(actor, user, OWN_FACTOR)
      if (!(ttl >= BYPASS_MS.min && ttl <= BYPASS_MS.max)) {
        throw invalidField('ttl', 'A bypass code lasts from one second to 24 hours.')
      }
      const { salt = newSalt() } = await factorOf(database.read, user)
      const code = newBackupCode()
      const [hash] = await hashBackupCodes(queue, [code], salt)
      const expires_at = clock.now() + ttl
      await database.write({ accounts: [user] }, async (tx) => {
        const { account, salt: current = salt } = await factorOf(tx, user)
        if (account.disabled_at !== null) {
          throw fault('conflict', { text: `"${account.username}" is disabled and cannot sign in.` })
        }
        if (current !== salt) throw fault('conflict')
        await storeBypassCode(tx, { user_id: user, hash: hash!, expires_at }, salt)
        const detail = { expires_at: iso(expires_at) }
        await audit.record(tx, { kind: '2fa.bypass_made', ...auditActor(user, actor), detail })
      })
      return { code, expires_at }
    },
    async renewBackupCodes(user, actor) {
      // Keep the salt: an issued bypass code is hashed with it too.
      const { salt = newSalt() } = await factorOf(database.read, user)
      const { codes, hashes } = await makeCodes(queue, salt)
      await database.write({ accounts: [user] }, async (tx) => {
        const { salt: current = salt } = await factorOf(tx, user)
        if (current !== salt) throw fault('conflict')
        await replaceBackupCodes(tx, user, salt, hashes)
        await audit.record(tx, { kind: '2fa.codes_regenerated', ...auditActor(user, actor) })
      })
      return codes
    },
  }
}

/** An account with a second factor, and the salt of its codes if it has one. Throws `conflict` without a factor. */
async function factorOf(on: Reader, user: number): Promise<{ account: Account; salt: string | undefined }> {
  const account = await orNotFound(accountById(on, user))
  const factor = await secondFactorOf(on, user)
  if (!factor?.secret) throw fault('conflict', { text: `"${account.username}" has no second factor.` })
  return { account, salt: factor.code_salt ?? undefined }
}
