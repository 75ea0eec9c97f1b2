import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountByName, listAccounts, type ListedAccount } from '../../storage/accounts.ts'
import type { Database } from '../../storage/database.ts'
import type { Lifetime } from '../../storage/device-tokens.ts'
import type { Audit } from '../instance/instance.ts'
import type { Lockout } from './lockout.ts'
import type { NewAccounts, NewUser } from './new-accounts.ts'
import type { Passwords } from './passwords.ts'
import { makeUserChanges, type UserChanges } from './user-changes.ts'
import { withoutHash, type User } from './user.ts'
import { normalName } from './usernames.ts'

export interface ListedUser extends ListedAccount {
  /** Bytes the account may use: its own quota or the default one; -1 for unlimited. */
  effective_quota: number
  /** When the lock after too many wrong passwords ends, epoch ms; null when there is none. */
  locked_until: number | null
}

export interface Users extends UserChanges {
  /** Makes an account with an empty file tree. Throws `exists`, and `bad_request` naming the rule that is broken. */
  create(user: NewUser): Promise<User>
  /** The account with this name, upper or lower case. Throws `not_found`. */
  byName(username: string): Promise<User>
  /** Every account by name, with what it uses and whether it is locked. */
  list(): Promise<ListedUser[]>
  /** The same about the account with this name. Throws `not_found`. */
  details(username: string): Promise<ListedUser>
}

export interface UsersDeps {
  database: Database
  clock: Clock
  passwords: Passwords
  lockout: Lockout
  newAccounts: NewAccounts
  audit: Audit
  lifetime: () => Promise<Lifetime>
  policy: () => Promise<{ defaultQuotaBytes: number }>
}

export function makeUsers(deps: UsersDeps): Users {
  const { database, lockout, newAccounts, lifetime, policy } = deps

  async function listed(username?: string): Promise<ListedUser[]> {
    const { defaultQuotaBytes } = await policy()
    const accounts = await listAccounts(database.read, await lifetime(), username)
    const names = accounts.map((account) => account.username)
    const locked = await lockout.lockedUntil(database.read, names)
    return accounts.map((account) => ({
      ...account,
      effective_quota: account.quota_bytes ?? defaultQuotaBytes,
      locked_until: locked.get(account.username) ?? null,
    }))
  }

  return {
    ...makeUserChanges(deps),
    async create(user) {
      const account = await newAccounts.prepare(user)
      return database.write((tx) => newAccounts.store(tx, account))
    },
    async byName(username) {
      const account = await accountByName(database.read, normalName(username))
      if (!account) throw missing(username)
      return withoutHash(account)
    },
    list: () => listed(),
    async details(username) {
      const [user] = await listed(normalName(username))
      if (!user) throw missing(username)
      return user
    },
  }
}

const missing = (name: string) => fault('not_found', { text: `There is no user named "${name}".` })
