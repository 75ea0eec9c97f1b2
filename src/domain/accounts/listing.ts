import type { Clock } from '../../base/clock.ts'
import type { Role } from '../../contract/shapes.ts'
import { listAccounts, roomCountOf, type ListedAccount } from '../../storage/accounts/accounts.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Lifetime } from '../../storage/accounts/device-tokens.ts'
import { isClosed } from './code-step.ts'
import type { Lockout } from './lockout.ts'
import { sessionBounds } from './sessions.ts'
import { missingUser } from './user.ts'
import { normalName } from './usernames.ts'

export interface ListedUser extends Omit<ListedAccount, 'codes_locked_until'> {
  /** Bytes the account may use: its own quota or the default one; -1 for unlimited. */
  effective_quota: number
  /** How full the quota is, in whole percent; null where there is no limit. */
  percent_used: number | null
  /** Whether wrong passwords or wrong codes keep the account out. */
  locked: boolean
  /** When the lock after too many wrong passwords ends, epoch ms; null when there is none. */
  locked_until: number | null
  /** When codes are looked at again after too many wrong ones, epoch ms; null when they are. */
  codes_locked_until: number | null
  /** Whether only an administrator ends that lock. */
  codes_closed: boolean
}

export interface UserDetails extends ListedUser {
  /** Chat rooms the account belongs to. */
  rooms: number
}

/** Which accounts are asked for, and in which order. What is left out does not matter. */
export interface UserFilter {
  role?: Role | undefined
  disabled?: boolean | undefined
  /** Only those that wrong passwords or wrong codes lock. */
  locked?: boolean | undefined
  without2fa?: boolean | undefined
  /** Only those that were not seen for so long, ms; who was never seen counts from when the account was made. */
  inactive?: number | undefined
  /** Part of the user name or the display name, upper or lower case. */
  search?: string | undefined
  sort?: UserOrder | undefined
  reverse?: boolean | undefined
}

/** By name, or with the largest, fullest, latest or newest first; equal ones by name. */
export type UserOrder = 'name' | 'used' | 'percent' | 'seen' | 'created'

export interface Listing {
  /** Accounts with what they use and whether they are locked; by name where the filter says no other order. */
  list(filter?: UserFilter): Promise<ListedUser[]>
  /** The same and more about the account with this name. Throws `not_found`. */
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

/** What is known about accounts. A list costs two queries, however long it is. */
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
      const codes_locked_until = account.codes_locked_until > now ? account.codes_locked_until : null
      const codes_closed = isClosed(account.code_failures)
      // Not spread: V8 takes many times as long for that, which shows with ten thousand accounts.
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

/** Upper and lower case and the ways to write one character are the same to somebody who searches. */
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

/** What comes first has the largest of these numbers; the list is by name already. */
const orders: Record<UserOrder, ((user: ListedUser) => number) | undefined> = {
  name: undefined,
  used: ({ used_bytes }) => used_bytes,
  percent: ({ percent_used }) => percent_used ?? -1,
  seen: ({ last_seen_at }) => last_seen_at ?? 0,
  created: ({ created_at }) => created_at,
}
