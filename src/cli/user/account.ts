import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import type { ListedUser } from '../../domain/accounts/accounts.ts'
import { moment } from '../moment.ts'

// How the commands of `user` show an account: one document for machines, the same words for people.

const optional = <T>(value: number | null, show: (value: number) => T): T | null =>
  value === null ? null : show(value)

const stateOf = (user: ListedUser): 'active' | 'disabled' | 'locked' => {
  if (user.disabled_at !== null) return 'disabled'
  return user.locked_until === null ? 'active' : 'locked'
}

/** What `--json` says about an account. */
export const documentOf = (user: ListedUser) => ({
  id: user.id,
  username: user.username,
  display_name: user.display_name,
  role: user.role,
  state: stateOf(user),
  locked_until: optional(user.locked_until, iso),
  used_bytes: user.used_bytes,
  quota_bytes: user.effective_quota < 0 ? null : user.effective_quota,
  quota_is_default: user.quota_bytes === null,
  device_count: user.devices,
  two_factor: user.two_factor_since !== null,
  last_login_at: optional(user.last_login_at, iso),
  created_at: iso(user.created_at),
})

export const quotaText = ({ effective_quota }: ListedUser): string =>
  effective_quota < 0 ? 'none' : formatSize(effective_quota)

export const stateText = (user: ListedUser): string =>
  user.locked_until !== null && user.disabled_at === null ? `locked until ${moment(user.locked_until)}` : stateOf(user)

export const lastLoginText = ({ last_login_at }: ListedUser): string =>
  last_login_at === null ? 'never' : moment(last_login_at)
