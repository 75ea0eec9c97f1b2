import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Role } from '../../contract/shapes.ts'
import { accountById, lockAdmins, updateAccount, type Account } from '../../storage/accounts/accounts.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { deleteTokensOf, type Lifetime } from '../../storage/accounts/device-tokens.ts'
import { deletePendingLoginsOf } from '../../storage/accounts/pending-logins.ts'
import { deleteBypassCode, secondFactorOf, storeFailures } from '../../storage/accounts/second-factors.ts'
import { deleteSessionsOf } from '../../storage/accounts/sessions.ts'
import { hasUsernameLike } from '../../storage/accounts/username-look.ts'
import type { Audit } from '../instance/instance.ts'
import { assertOther, auditActor, type Actor } from './actor.ts'
import { invalidField } from './account-faults.ts'
import { codesLockedUntil, isClosed } from './code-verifier.ts'
import type { Lockout } from './lockout.ts'
import { lookOf } from './look-alikes.ts'
import { revokeAccess } from './revocation.ts'
import { assertChosenPassword, type Passwords } from './passwords.ts'
import { assertColor, assertQuota, orNotFound, readDisplayName, withoutHash, type User } from './user.ts'

export interface Changes {
  display_name?: string
  /** `#rrggbb`. */
  avatar_color?: string
  role?: Role
  /** Bytes, -1 for unlimited, null for the default quota. */
  quota_bytes?: number | null
}

export interface Ended {
  sessions: number
}

interface SettingPassword {
  /** Accepts one of the most common passwords. */
  allow_weak?: boolean
  /** Whether devices stay signed in. */
  keep_devices?: boolean
  actor?: Actor
}

export interface UserChanges {
  /** A changed role ends the sessions. Throws `conflict` for the last administrator and for one's own role. */
  update(id: number, changes: Changes, actor?: Actor): Promise<User & { sessions_ended: number }>
  /** Sets a password and ends the sessions, and the devices unless they are kept. */
  setPassword(
    id: number,
    password: string | { hash: string },
    options?: SettingPassword,
  ): Promise<Ended & { devices: number }>
  /**
   * Disables the account and ends its devices and sessions. Throws `conflict` for the last administrator, and, like `enable`,
   * until the import of the account is complete.
   */
  disable(id: number, actor?: Actor): Promise<Ended & { devices: number }>
  enable(id: number, actor?: Actor): Promise<void>
  /** Ends the locks after wrong passwords and wrong codes, and clears the failures. Returns whether there was a lock. */
  unlock(id: number, actor?: Actor): Promise<boolean>
}

interface Deps {
  database: Database
  clock: Clock
  passwords: Passwords
  lockout: Lockout
  audit: Audit
  lifetime: () => Promise<Lifetime>
  policy: () => Promise<{ hostName: string }>
}

const OWN_ROLE = 'You cannot change your own role: ask another administrator.'
const OWN_PASSWORD = 'The own password is changed in the settings, with the current one.'
const OWN_ACCOUNT = 'You cannot disable your own account: ask another administrator.'

/** Refuses a display name that looks like another user's user name. */
async function assertNobodyElses(tx: Writer, id: number, name: string): Promise<void> {
  if (await hasUsernameLike(tx, id, lookOf(name)))
    throw invalidField('display_name', 'This is the user name of another account, or looks like it.')
}

/** Changes of one account. Each throws `not_found`, and `conflict` while the account is being removed. */
export function makeUserChanges({ database, clock, passwords, lockout, audit, lifetime, policy }: Deps): UserChanges {
  const change = <T>(id: number, unit: (tx: Writer, account: Account) => Promise<T>): Promise<T> =>
    database.write('instance', async (tx) => unit(tx, assertNotBeingRemoved(await orNotFound(accountById(tx, id)))))

  return {
    async update(id, { display_name, avatar_color, role, quota_bytes }, actor) {
      if (quota_bytes !== undefined) assertQuota(quota_bytes)
      if (avatar_color !== undefined) assertColor(avatar_color)
      return change(id, async (tx, account) => {
        const isNew = display_name !== undefined && display_name.trim() !== account.display_name
        const name = isNew ? readDisplayName(display_name) : undefined
        if (name !== undefined && actor && actor.by === undefined) await assertNobodyElses(tx, id, name)
        let sessions_ended = 0
        if (role !== undefined && role !== account.role) {
          assertOther(actor, id, OWN_ROLE)
          if (role !== 'admin') await assertAdminRemains(tx, account, 'demoted')
          await deletePendingLoginsOf(tx, id)
          sessions_ended = await deleteSessionsOf(tx, id, actor?.session_id)
        }
        const values = {
          ...(name !== undefined && { display_name: name }),
          ...(avatar_color !== undefined && { avatar_color }),
          ...(role !== undefined && { role }),
          ...(quota_bytes !== undefined && { quota_bytes }),
        }
        await updateAccount(tx, id, values, clock.now())
        await audit.record(tx, { kind: 'user.changed', ...auditActor(id, actor), detail: values })
        return { ...withoutHash({ ...account, ...values }), sessions_ended }
      })
    },
    async setPassword(id, password, { allow_weak = false, keep_devices = false, actor } = {}) {
      assertOther(actor, id, OWN_PASSWORD)
      const { username, display_name } = await orNotFound(accountById(database.read, id))
      const known = [display_name, (await policy()).hostName]
      assertChosenPassword(password, username, { allowWeak: allow_weak, known })
      const password_hash = await passwords.hashOf(password)
      const bounds = await lifetime()
      return change(id, async (tx) => {
        await updateAccount(tx, id, { password_hash }, clock.now())
        await deletePendingLoginsOf(tx, id)
        const sessions = await deleteSessionsOf(tx, id)
        const devices = keep_devices ? 0 : await deleteTokensOf(tx, id, bounds)
        const detail = { sessions_ended: sessions, devices_ended: devices }
        await audit.record(tx, { kind: 'user.password', ...auditActor(id, actor), detail })
        return { sessions, devices }
      })
    },
    async disable(id, actor) {
      assertOther(actor, id, OWN_ACCOUNT)
      const bounds = await lifetime()
      return change(id, async (tx, account) => {
        assertImported(account)
        await assertAdminRemains(tx, account, 'disabled')
        await updateAccount(tx, id, { disabled_at: account.disabled_at ?? clock.now() }, clock.now())
        await deletePendingLoginsOf(tx, id)
        await deleteBypassCode(tx, id)
        const detail = await revokeAccess(tx, id, bounds)
        await audit.record(tx, { kind: 'user.disabled', ...auditActor(id, actor), detail })
        return { sessions: detail.sessions_ended, devices: detail.devices_ended }
      })
    },
    enable: (id, actor) =>
      change(id, async (tx, account) => {
        assertImported(account)
        await updateAccount(tx, id, { disabled_at: null }, clock.now())
        await audit.record(tx, { kind: 'user.enabled', ...auditActor(id, actor) })
      }),
    unlock: (id, actor) =>
      change(id, async (tx, account) => {
        const passwordLocked = (await lockout.lockedUntil(tx, [account.username])).size > 0
        const factor = await secondFactorOf(tx, id)
        const codesLocked =
          factor &&
          (isClosed(factor.failures) || codesLockedUntil(factor.failures, factor.locked_until, clock.now()) !== null)
        await lockout.clear(tx, account.username)
        await storeFailures(tx, id, 0, 0)
        await audit.record(tx, { kind: 'user.unlocked', ...auditActor(id, actor) })
        return passwordLocked || !!codesLocked
      }),
  }
}

/** Throws `conflict` for the last administrator. Locks the administrators until the transaction ends. */
const assertAdminRemains = async (tx: Writer, account: Account, what: string): Promise<void> =>
  assertNotLast(await lockAdmins(tx), account, what)

/** Throws `conflict` if the account is the only one of `admins`. */
export function assertNotLast(admins: number[], account: Account, what: string): void {
  if (!admins.includes(account.id) || admins.length > 1) return
  throw fault('conflict', {
    text: `"${account.username}" is the only administrator who can sign in, and cannot be ${what}. Make another user an administrator first.`,
  })
}

function assertNotBeingRemoved(account: Account): Account {
  if (account.removing_since === null) return account
  throw fault('conflict', { text: `"${account.username}" is being removed.` })
}

/** An import enables its account when it is complete. */
function assertImported({ username, importing_at }: Account): void {
  if (importing_at === null) return
  throw fault('conflict', {
    text: `The import of "${username}" is not complete. If it was interrupted, repeat it or remove the account.`,
  })
}
