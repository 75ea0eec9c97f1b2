import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import type { ListedUser } from '../../domain/accounts/accounts.ts'
import { moment } from '../moment.ts'

// How the commands of `user` show an account: one document for machines, the same words for people.

const optional = <T>(value: number | null, show: (value: number) => T): T | null =>
  value === null ? null : show(value)

const stateOf = (user: ListedUser): 'active' | 'disabled' | 'locked' => {
  if (user.disabled_at !== null) return 'disabled'
  return user.locked ? 'locked' : 'active'
}

/** What `--json` says about an account. */
export const documentOf = (user: ListedUser) => ({
  id: user.id,
  username: user.username,
  display_name: user.display_name,
  avatar_color: user.avatar_color,
  role: user.role,
  state: stateOf(user),
  locked_until: optional(user.locked_until, iso),
  codes_locked_until: optional(user.codes_locked_until, iso),
  codes_closed: user.codes_closed,
  used_bytes: user.used_bytes,
  quota_bytes: user.effective_quota < 0 ? null : user.effective_quota,
  quota_is_default: user.quota_bytes === null,
  quota_percent: user.percent_used,
  device_count: user.devices,
  session_count: user.sessions,
  two_factor: user.two_factor_since !== null,
  last_seen_at: optional(user.last_seen_at, iso),
  last_login_at: optional(user.last_login_at, iso),
  created_at: iso(user.created_at),
})

export const quotaText = ({ effective_quota }: ListedUser): string =>
  effective_quota < 0 ? 'none' : formatSize(effective_quota)

export const percentText = ({ percent_used }: ListedUser): string => (percent_used === null ? '' : `${percent_used} %`)

/** Why somebody can or cannot sign in. */
export function stateText(user: ListedUser): string {
  if (user.disabled_at !== null) return 'disabled'
  if (user.locked_until !== null) return `locked until ${moment(user.locked_until)}`
  if (user.codes_closed) return 'codes locked'
  return user.codes_locked_until === null ? 'active' : `codes locked until ${moment(user.codes_locked_until)}`
}

/** A time, or `never`. */
export const momentText = (time: number | null): string => (time === null ? 'never' : moment(time))
