import { accountByName } from '../../storage/accounts/accounts.ts'
import type { Writer } from '../../storage/engine/database.ts'
import type { Actor } from './actor.ts'
import { makeListing, type Listing } from './listing.ts'
import type { NewAccounts, NewUser } from './new-accounts.ts'
import { makeRemoval, type Removal } from './removal.ts'
import { makeUserChanges, type UserChanges } from './user-changes.ts'
import { missingUser, withoutHash, type User } from './user.ts'
import { normalName } from './usernames.ts'

export interface Users extends Listing, UserChanges, Removal {
  /** `also` runs in the same transaction. Throws `exists`, and `bad_request` naming the broken rule. */
  create(user: NewUser, also?: (tx: Writer, made: User) => Promise<void>, actor?: Actor): Promise<User>
  /** The account with this name, case-insensitive. Throws `not_found`. */
  byName(username: string): Promise<User>
}

type Deps = Parameters<typeof makeListing>[0] &
  Parameters<typeof makeUserChanges>[0] &
  Parameters<typeof makeRemoval>[0] & { newAccounts: NewAccounts }

export function makeUsers(deps: Deps): Users {
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
