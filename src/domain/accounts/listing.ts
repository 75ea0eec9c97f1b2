import type { Clock } from '../../base/clock.ts'
import type { Role } from '../../contract/shapes.ts'
import { listAccounts, roomCountOf, type ListedAccount } from '../../storage/accounts/accounts.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Lifetime } from '../../storage/accounts/device-tokens.ts'
import { codesLockedUntil, isClosed } from './code-verifier.ts'
import type { Lockout } from './lockout.ts'
import { sessionBounds } from './sessions.ts'
import { missingUser } from './user.ts'
import { normalName } from './usernames.ts'

export interface ListedUser extends Omit<ListedAccount, 'codes_locked_until'> {
  /** Effective quota in bytes: the account's own or the default; -1 for unlimited. */
  effective_quota: number
  /** Use of the quota in whole percent; null if unlimited. */
  percent_used: number | null
  /** Whether wrong passwords or wrong codes lock the account. */
  locked: boolean
  /** When the lock after too many wrong passwords ends, epoch ms; null if none. */
  locked_until: number | null
  /** When the lock after too many wrong codes ends, epoch ms; null if none. */
  codes_locked_until: number | null
  /** Whether only an administrator can end that lock. */
  codes_closed: boolean
}

export interface UserDetails extends ListedUser {
  rooms: number
}

/** Selection and order of accounts; an undefined field selects all. */
export interface UserFilter {
  role?: Role | undefined
  disabled?: boolean | undefined
  /** Only those locked by wrong passwords or wrong codes. */
  locked?: boolean | undefined
  without2fa?: boolean | undefined
  /** Only those not seen for this long, ms; an account never seen counts from its creation. */
  inactive?: number | undefined
  /** Part of the user name or display name, case-insensitive. */
  search?: string | undefined
  sort?: UserOrder | undefined
  reverse?: boolean | undefined
}

/** By name, or descending by size, use of the quota, last use or creation; equal ones by name. */
export type UserOrder = 'name' | 'used' | 'percent' | 'seen' | 'created'

export interface Listing {
  /** Accounts with their use and locks; ordered by name unless the filter says otherwise. */
  list(filter?: UserFilter): Promise<ListedUser[]>
  /** Details of one account. Throws `not_found`. */
  details(username: string): Promise<UserDetails>
}

interface Deps {
  database: Database
  clock: Clock
  lockout: Lockout
  lifetime: () => Promise<Lifetime>
  policy: () => Promise<{ defaultQuotaBytes: number }>
}

function percentUsed(used: number, quota: number): number | null {
  if (quota < 0) return null
  return quota === 0 ? 100 : Math.floor((used * 100) / quota)
}

/** Lists accounts in two queries, whatever their number. */
export function makeListing({ database, clock, lockout, lifetime, policy }: Deps): Listing {
  async function listed(username?: string): Promise<ListedUser[]> {
    const { defaultQuotaBytes } = await policy()
    const now = clock.now()
    const bounds = { lifetime: await lifetime(), sessions: sessionBounds(now) }
    const accounts = await listAccounts(database.read, { ...bounds, username })
    const names = accounts.map((account) => account.username)
    const locked = await lockout.lockedUntil(database.read, names)
    return accounts.map((account) => {
      const effective_quota = account.quota_bytes ?? defaultQuotaBytes
      const locked_until = locked.get(account.username) ?? null
      const codes_locked_until = codesLockedUntil(account.code_failures, account.codes_locked_until, now)
      const codes_closed = isClosed(account.code_failures)
      // `Object.assign`, because V8 spreads objects many times slower, which shows with ten thousand accounts.
      return Object.assign(account, {
        effective_quota,
        percent_used: percentUsed(account.used_bytes, effective_quota),
        locked: locked_until !== null || codes_locked_until !== null || codes_closed,
        locked_until,
        codes_locked_until,
        codes_closed,
      })
    })
  }

  return {
    async list(filter = {}) {
      const users = (await listed()).filter(matching(filter, clock.now()))
      const order = orders[filter.sort ?? 'name']
      if (order) users.sort((a, b) => order(b) - order(a))
      return filter.reverse ? users.reverse() : users
    },
    async details(username) {
      const [user] = await listed(normalName(username))
      if (!user) throw missingUser(username)
      return { ...user, rooms: await roomCountOf(database.read, user.id) }
    },
  }
}

/** Folds case and Unicode composition for searching. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase()

function matching({ role, disabled, locked, without2fa, inactive, search }: UserFilter, now: number) {
  const wanted = search === undefined ? undefined : folded(search)
  return (user: ListedUser): boolean =>
    (role === undefined || user.role === role) &&
    (disabled === undefined || (user.disabled_at !== null) === disabled) &&
    (locked !== true || user.locked) &&
    (without2fa !== true || user.two_factor_since === null) &&
    (inactive === undefined || (user.last_seen_at ?? user.created_at) <= now - inactive) &&
    (wanted === undefined || folded(user.username).includes(wanted) || folded(user.display_name).includes(wanted))
}

/** Descending sort keys; the list is already ordered by name. */
const orders: Record<UserOrder, ((user: ListedUser) => number) | undefined> = {
  name: undefined,
  used: ({ used_bytes }) => used_bytes,
  percent: ({ percent_used }) => percent_used ?? -1,
  seen: ({ last_seen_at }) => last_seen_at ?? 0,
  created: ({ created_at }) => created_at,
}
