import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountById, updateAccount } from '../../storage/accounts/accounts.ts'
import type { Database } from '../../storage/engine/database.ts'
import { deletePendingLoginsOf } from '../../storage/accounts/pending-logins.ts'
import type { Lifetime } from '../../storage/accounts/device-tokens.ts'
import type { Audit } from '../instance/instance.ts'
import { auditActor, type Actor } from './actor.ts'
import { revokeAccess } from './revocation.ts'
import type { Login } from './login.ts'
import { assertNewPassword, type Passwords } from './passwords.ts'

export interface PasswordChange {
  current_password: string
  new_password: string
  /** Whether to end other sessions and all devices; true by default. */
  end_others?: boolean
}

interface Deps {
  database: Database
  clock: Clock
  login: Login
  passwords: Passwords
  audit: Audit
  lifetime: () => Promise<Lifetime>
  policy: () => Promise<{ hostName: string }>
}

/** Changes the password of a signed-in user; see `Accounts.changePassword`. */
export const makeOwnPassword =
  ({ database, clock, login, passwords, audit, lifetime, policy }: Deps) =>
  async (
    user: { id: number; username: string; display_name: string },
    change: PasswordChange,
    actor: Actor,
  ): Promise<void> => {
    const { id, username } = user
    const { current_password: password, new_password, end_others = true } = change
    const known = [user.display_name, (await policy()).hostName]
    assertNewPassword(new_password, username, { field: 'new_password', known })
    const { ip, userAgent, isShared = false } = actor
    const verified = await login.confirm({ username, password, ip, userAgent, isShared })
    const password_hash = await passwords.hash(new_password)
    const bounds = await lifetime()
    await database.write({ accounts: [id] }, async (tx) => {
      const account = await accountById(tx, id)
      // The account may have changed during the hashing.
      const same = account?.disabled_at === null && account.password_hash === verified.password_hash
      if (!same) throw fault('invalid_credentials')
      await updateAccount(tx, id, { password_hash }, clock.now())
      await deletePendingLoginsOf(tx, id)
      const detail = end_others
        ? await revokeAccess(tx, id, bounds, actor.session_id)
        : { sessions_ended: 0, devices_ended: 0 }
      await audit.record(tx, { kind: 'user.password', ...auditActor(id, actor), detail })
    })
  }
