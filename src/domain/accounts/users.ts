import type { Clock } from '../../base/clock.ts'
import { accountByName } from '../../storage/accounts/accounts.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import type { Lifetime } from '../../storage/accounts/device-tokens.ts'
import type { Audit } from '../instance/instance.ts'
import type { Actor } from './actor.ts'
import { makeListing, type Listing } from './listing.ts'
import type { Lockout } from './lockout.ts'
import type { NewAccounts, NewUser } from './new-accounts.ts'
import type { Passwords } from './passwords.ts'
import { makeRemoval, type Removal } from './removal.ts'
import type { RemovalJobs } from './removal-jobs.ts'
import { makeUserChanges, type UserChanges } from './user-changes.ts'
import { missingUser, withoutHash, type User } from './user.ts'
import { normalName } from './usernames.ts'

export interface Users extends Listing, UserChanges, Removal {
  /** `also` runs in the same transaction. Throws `exists`, and `bad_request` naming the broken rule. */
  create(user: NewUser, also?: (tx: Writer, made: User) => Promise<void>, actor?: Actor): Promise<User>
  /** The account with this name, case-insensitive. Throws `not_found`. */
  byName(username: string): Promise<User>
}

export interface UsersDeps {
  database: Database
  clock: Clock
  passwords: Passwords
  lockout: Lockout
  newAccounts: NewAccounts
  audit: Audit
  lifetime: () => Promise<Lifetime>
  policy: () => Promise<{ defaultQuotaBytes: number; hostName: string }>
  removalJobs: RemovalJobs
}

export function makeUsers(deps: UsersDeps): Users {
  const { database, newAccounts } = deps
  return {
    ...makeListing(deps),
    ...makeUserChanges(deps),
    ...makeRemoval(deps),
    async create(user, also, actor) {
      const account = await newAccounts.prepare(user)
      return database.write('instance', async (tx) => {
        const made = await newAccounts.store(tx, account, actor && { by: actor.by, from: actor })
        await also?.(tx, made)
        return made
      })
    },
    async byName(username) {
      const account = await accountByName(database.read, normalName(username))
      if (!account) throw missingUser(username)
      return withoutHash(account)
    },
  }
}
