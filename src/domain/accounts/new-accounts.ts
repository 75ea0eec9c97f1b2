import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountById, accountByName, insertAccount, type NewAccount } from '../../storage/accounts/accounts.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Audit, AuditActor } from '../instance/instance.ts'
import { assertChosenPassword, type Passwords } from './passwords.ts'
import type { Changes } from './user-changes.ts'
import { assertNotReserved, assertQuota, readDisplayName, readUsername, withoutHash, type User } from './user.ts'
import { avatarColor } from './usernames.ts'

export interface NewUser extends Omit<Changes, 'avatar_color'> {
  username: string
  /** A password or its argon2id hash. */
  password: string | { hash: string }
  /** Accepts one of the most common passwords. */
  allow_weak?: boolean
}

export interface NewAccounts {
  /** Validates a new user and hashes the password. Throws `exists`, and `bad_request` naming the broken rule. */
  prepare(user: NewUser): Promise<NewAccount>
  /** Stores the account. Throws `exists` if the name was taken meanwhile. */
  store(tx: Writer, account: NewAccount, by?: AuditActor): Promise<User>
}

interface Deps {
  database: Database
  clock: Clock
  passwords: Passwords
  audit: Audit
  policy: () => Promise<{ hostName: string }>
}

export const makeNewAccounts = ({ database, clock, passwords, audit, policy }: Deps): NewAccounts => ({
  async prepare({ username, password, display_name, role = 'user', quota_bytes = null, allow_weak = false }) {
    const name = readUsername(username)
    assertNotReserved(name)
    const shown = readDisplayName(display_name ?? name)
    assertQuota(quota_bytes)
    const known = [shown, (await policy()).hostName]
    assertChosenPassword(password, name, { allowWeak: allow_weak, known })
    if (await accountByName(database.read, name)) throw taken(name)
    return {
      username: name,
      display_name: shown,
      avatar_color: avatarColor(name),
      role,
      password_hash: await passwords.hashOf(password),
      quota_bytes,
    }
  },
  async store(tx, account, by) {
    const id = await insertAccount(tx, account, clock.now())
    if (id === undefined) throw taken(account.username)
    await audit.record(tx, { kind: 'user.created', ...by, about: id, detail: { role: account.role } })
    return withoutHash((await accountById(tx, id))!)
  },
})

const taken = (name: string) => fault('exists', { text: `There is already a user named "${name}".` })
