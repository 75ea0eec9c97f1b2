import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import type { Role } from '../../contract/shapes.ts'
import { accountById, otherAdminExists, deleteAccount, updateAccount, type Account } from '../../storage/accounts.ts'
import { departFromChat } from '../../storage/chat-departure.ts'
import type { Database, Writer } from '../../storage/database.ts'
import { deleteTokensOf } from '../../storage/device-tokens.ts'
import { deletePendingLoginsOf } from '../../storage/pending-logins.ts'
import { passOnRoomFolders } from '../../storage/room-files.ts'
import { storeFailures } from '../../storage/second-factors.ts'
import { deleteSessionsOf } from '../../storage/sessions.ts'
import type { Audit } from '../instance/instance.ts'
import { doer, type Acting } from './acting.ts'
import type { Lockout } from './lockout.ts'
import { assertNewPassword, type Passwords } from './passwords.ts'
import { assertQuota, readDisplayName, withoutHash, type User } from './user.ts'

export interface Changes {
  display_name?: string
  /** `#rrggbb`. */
  avatar_color?: string
  role?: Role
  /** Bytes, -1 for unlimited, null for the default quota. */
  quota_bytes?: number | null
}

export interface UserChanges {
  /** Changes what is given; another role ends the sessions. Throws `conflict` when that would leave no administrator. */
  update(id: number, changes: Changes, acting?: Acting): Promise<User>
  /** Sets another password and ends the sessions; devices stay signed in. */
  setPassword(id: number, password: string, options?: { allow_weak?: boolean }): Promise<void>
  /** Refuses the account from now on and ends its devices and sessions; says how many devices. Throws `conflict` for the last administrator. */
  disable(id: number): Promise<{ devices: number }>
  enable(id: number): Promise<void>
  /** Ends the locks after wrong passwords and wrong codes. */
  unlock(id: number): Promise<void>
  /** Removes the account with its files and rows for good. Throws `conflict` for the last administrator. */
  remove(id: number): Promise<void>
}

export interface UserChangesDeps {
  database: Database
  clock: Clock
  passwords: Passwords
  lockout: Lockout
  audit: Audit
}

/** Changes of one account. Each throws `not_found` when it is gone. */
export function makeUserChanges({ database, clock, passwords, lockout, audit }: UserChangesDeps): UserChanges {
  const change = <T>(id: number, unit: (tx: Writer, account: Account) => Promise<T>): Promise<T> =>
    database.write(async (tx) => unit(tx, await present(accountById(tx, id))))

  return {
    async update(id, { display_name, avatar_color, role, quota_bytes }, acting) {
      const name = display_name === undefined ? undefined : readDisplayName(display_name)
      if (quota_bytes !== undefined) assertQuota(quota_bytes)
      return change(id, async (tx, account) => {
        if (role !== undefined && role !== account.role) {
          if (role !== 'admin') await assertAdminRemains(tx, account, 'demoted')
          await deletePendingLoginsOf(tx, id)
          await deleteSessionsOf(tx, id, acting?.session_id)
        }
        const values = {
          ...(name !== undefined && { display_name: name }),
          ...(avatar_color !== undefined && { avatar_color }),
          ...(role !== undefined && { role }),
          ...(quota_bytes !== undefined && { quota_bytes }),
        }
        await updateAccount(tx, id, values, clock.now())
        await audit.record(tx, { kind: 'user.changed', ...doer(id, acting), detail: values })
        return withoutHash({ ...account, ...values })
      })
    },
    async setPassword(id, password, { allow_weak = false } = {}) {
      const { username } = await present(accountById(database.read, id))
      assertNewPassword(password, username, { allowWeak: allow_weak })
      const password_hash = await passwords.hash(password)
      await change(id, async (tx) => {
        await updateAccount(tx, id, { password_hash }, clock.now())
        await deletePendingLoginsOf(tx, id)
        const sessions = await deleteSessionsOf(tx, id)
        await audit.record(tx, { kind: 'user.password', about: id, detail: { sessions_ended: sessions } })
      })
    },
    disable: (id) =>
      change(id, async (tx, account) => {
        await assertAdminRemains(tx, account, 'disabled')
        await updateAccount(tx, id, { disabled_at: account.disabled_at ?? clock.now() }, clock.now())
        await deletePendingLoginsOf(tx, id)
        const sessions = await deleteSessionsOf(tx, id)
        const devices = await deleteTokensOf(tx, id)
        const detail = { sessions_ended: sessions, devices_ended: devices }
        await audit.record(tx, { kind: 'user.disabled', about: id, detail })
        return { devices }
      }),
    enable: (id) =>
      change(id, async (tx) => {
        await updateAccount(tx, id, { disabled_at: null }, clock.now())
        await audit.record(tx, { kind: 'user.enabled', about: id })
      }),
    unlock: (id) =>
      change(id, async (tx, account) => {
        await lockout.clear(tx, account.username)
        await storeFailures(tx, id, 0, 0)
        await audit.record(tx, { kind: 'user.unlocked', about: id })
      }),
    remove: (id) =>
      change(id, async (tx, account) => {
        await assertAdminRemains(tx, account, 'removed')
        await lockout.clear(tx, account.username)
        await audit.record(tx, { kind: 'user.removed', about: id })
        await passOnRoomFolders(tx, id)
        await departFromChat(tx, id, clock.now())
        await deleteAccount(tx, id)
      }),
  }
}

async function present(found: Promise<Account | undefined>): Promise<Account> {
  const account = await found
  if (!account) throw fault('not_found', { text: 'There is no such user any more.' })
  return account
}

/** Throws when nobody could administer the server any more. */
async function assertAdminRemains(tx: Writer, account: Account, what: string): Promise<void> {
  const counts = account.role === 'admin' && account.disabled_at === null
  if (!counts || (await otherAdminExists(tx, account.id))) return
  throw fault('conflict', {
    text: `"${account.username}" is the only administrator who can sign in, and cannot be ${what}. Make somebody else an administrator first.`,
  })
}
