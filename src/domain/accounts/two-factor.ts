import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountById } from '../../storage/accounts/accounts.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import { deletePendingLoginsOf } from '../../storage/accounts/pending-logins.ts'
import type { Lifetime } from '../../storage/accounts/device-tokens.ts'
import { deleteSessionsOf } from '../../storage/accounts/sessions.ts'
import {
  deleteSecondFactor,
  enableSecondFactor,
  replaceBackupCodes,
  secondFactorOf,
  storePendingSecret,
} from '../../storage/accounts/second-factors.ts'
import type { Audit } from '../instance/instance.ts'
import { auditActor, type Actor } from './actor.ts'
import { makeCodes, newSalt } from './backup-codes.ts'
import { sealContext, type CodeVerifier } from './code-verifier.ts'
import type { Queue } from './job-queue.ts'
import { seal, unseal } from './sealing.ts'
import { revokeAccess } from './revocation.ts'
import { matchingStep, newTotpSecret, totpUri } from './totp.ts'
import { makeTwoFactorAdministration, SETUP_MS, type TwoFactorAdministration } from './two-factor-administration.ts'

export interface TwoFactor extends TwoFactorAdministration {
  /**
   * Creates a secret that `enable` activates within 10 minutes, and replaces an earlier one. `issuer` is shown by
   * authenticator apps. Throws `conflict` while the second factor is on.
   */
  setUp(user: number, issuer: string): Promise<{ secret: string; otpauth_url: string }>
  /**
   * Enables the second factor with a code of the new secret. With `endOthers`, ends the user's other sessions and devices,
   * which signed in without it. Throws `invalid_code`, `conflict`.
   */
  enable(
    user: number,
    code: string,
    actor?: Actor,
    options?: { endOthers?: boolean | undefined },
  ): Promise<{ backup_codes: string[] }>
  /**
   * Disables the second factor, deletes secret and backup codes, and ends the user's other sessions. Takes a TOTP code
   * newer than the last. Throws `invalid_code`, `account_locked`, `conflict`.
   */
  disable(user: number, code: string, actor?: Actor): Promise<void>
  /** Replaces the backup codes. Takes and throws the same as `disable`. */
  regenerateBackupCodes(user: number, code: string, actor?: Actor): Promise<{ backup_codes: string[] }>
}

export interface TwoFactorDeps {
  database: Database
  clock: Clock
  sealKey: Uint8Array
  queue: Queue
  codeVerifier: CodeVerifier
  audit: Audit
  lifetime: () => Promise<Lifetime>
}

export function makeTwoFactor(deps: TwoFactorDeps): TwoFactor {
  const { database, clock, sealKey, queue, codeVerifier, audit, lifetime } = deps
  const prove = proveSetUp({ clock, sealKey })
  const administration = makeTwoFactorAdministration({ database, clock, queue, audit })

  /** Consumes a TOTP code and runs `permitted`; counts a wrong code before refusing it. */
  async function withCode(
    user: number,
    code: string,
    actor: Actor | undefined,
    permitted: (tx: Writer) => Promise<void>,
  ): Promise<void> {
    const proof = await codeVerifier.read(user, code, 'settings')
    const right = await database.write({ accounts: [user] }, async (tx) => {
      await assertOn(tx, user)
      await codeVerifier.assertOpen(tx, user)
      if (!(await codeVerifier.use(tx, user, proof, 'settings', actor))) return false
      await permitted(tx)
      return true
    })
    if (!right) throw fault('invalid_code')
  }

  return {
    async setUp(user, issuer) {
      const secret = newTotpSecret()
      return database.write({ accounts: [user] }, async (tx) => {
        const account = await accountById(tx, user)
        if (!account) throw fault('not_found')
        if (account.two_factor_since !== null) throw isOn()
        await storePendingSecret(tx, user, seal(sealKey, sealContext(user), secret), clock.now())
        return { secret, otpauth_url: totpUri(secret, issuer, account.username) }
      })
    },
    async enable(user, code, actor, { endOthers = false } = {}) {
      await prove(database.read, user, code)
      const salt = newSalt()
      const { codes, hashes } = await makeCodes(queue, salt)
      const bounds = await lifetime()
      await database.write({ accounts: [user] }, async (tx) => {
        const { sealed, step } = await prove(tx, user, code)
        await enableSecondFactor(tx, user, sealed, step, clock.now())
        await replaceBackupCodes(tx, user, salt, hashes)
        const detail = endOthers ? await revokeAccess(tx, user, bounds, actor?.session_id) : undefined
        await audit.record(tx, { kind: '2fa.enabled', ...auditActor(user, actor), ...(detail && { detail }) })
      })
      return { backup_codes: codes }
    },
    disable: (user, code, actor) =>
      withCode(user, code, actor, async (tx) => {
        await deleteSecondFactor(tx, user)
        await deletePendingLoginsOf(tx, user)
        const sessions = await deleteSessionsOf(tx, user, actor?.session_id)
        await audit.record(tx, {
          kind: '2fa.disabled',
          ...auditActor(user, actor),
          detail: { sessions_ended: sessions },
        })
      }),
    async regenerateBackupCodes(user, code, actor) {
      // Consume the code first: a caller without one must not cost the server half a second of hashing.
      await withCode(user, code, actor, () => Promise.resolve())
      return { backup_codes: await administration.renewBackupCodes(user, actor) }
    },
    ...administration,
  }
}

/** The pending secret as stored, and the time step that the code proves. */
const proveSetUp =
  ({ clock, sealKey }: Pick<TwoFactorDeps, 'clock' | 'sealKey'>) =>
  async (on: Reader, user: number, code: string): Promise<{ sealed: string; step: number }> => {
    const factor = await secondFactorOf(on, user)
    if (factor?.secret) throw isOn()
    const since = factor?.pending_at ?? null
    if (!factor?.pending_secret || since === null || since + SETUP_MS <= clock.now()) {
      throw fault('conflict', { text: 'There is no setup to complete, or it has expired: start again.' })
    }
    const secret = unseal(sealKey, sealContext(user), factor.pending_secret)
    const step = matchingStep(secret, code.replace(/\s/g, ''), clock.now())
    if (step === undefined) throw fault('invalid_code')
    return { sealed: factor.pending_secret, step }
  }

const isOn = () => fault('conflict', { text: 'Two-factor authentication is on already.' })

async function assertOn(on: Reader, user: number): Promise<void> {
  const factor = await secondFactorOf(on, user)
  if (!factor?.secret) throw fault('conflict', { text: 'Two-factor authentication is not on.' })
}
