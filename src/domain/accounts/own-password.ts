import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountById, updateAccount } from '../../storage/accounts.ts'
import type { Database } from '../../storage/database.ts'
import { deletePendingLoginsOf } from '../../storage/pending-logins.ts'
import { deleteSessionsOf } from '../../storage/sessions.ts'
import type { Audit } from '../instance/instance.ts'
import { doer, type Acting } from './acting.ts'
import type { Login } from './login.ts'
import { assertNewPassword, type Passwords } from './passwords.ts'

export interface PasswordChange {
  current_password: string
  new_password: string
}

interface Deps {
  database: Database
  clock: Clock
  login: Login
  passwords: Passwords
  audit: Audit
}

/**
 * Changes the password of somebody who knows the current one, and ends their other sessions. A wrong one counts like a failed
 * login. Throws `invalid_credentials`, `account_locked`, `rate_limited`, `busy`, `bad_request`.
 */
export const makeOwnPassword =
  ({ database, clock, login, passwords, audit }: Deps) =>
  async (user: { id: number; username: string }, change: PasswordChange, acting: Acting): Promise<void> => {
    const { id, username } = user
    const { current_password: password, new_password } = change
    assertNewPassword(new_password, username, { field: 'new_password' })
    const verified = await login.confirm({ username, password, ip: acting.ip, userAgent: acting.userAgent })
    const password_hash = await passwords.hash(new_password)
    await database.write(async (tx) => {
      const account = await accountById(tx, id)
      // What was true before the hashing may have changed during it.
      const same = account?.disabled_at === null && account.password_hash === verified.password_hash
      if (!same) throw fault('invalid_credentials')
      await updateAccount(tx, id, { password_hash }, clock.now())
      await deletePendingLoginsOf(tx, id)
      const sessions = await deleteSessionsOf(tx, id, acting.session_id)
      await audit.record(tx, { kind: 'user.password', ...doer(id, acting), detail: { sessions_ended: sessions } })
    })
  }
