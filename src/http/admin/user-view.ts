import { iso } from '../../base/clock.ts'
import type { ListedUser } from '../../domain/accounts/accounts.ts'
import type { Domain } from '../../domain/domain.ts'
import { isoOrNull } from './moment.ts'
import { quotaOf } from './page.ts'

function stateOf(user: ListedUser): 'active' | 'disabled' | 'locked' {
  if (user.disabled_at !== null) return 'disabled'
  return user.locked ? 'locked' : 'active'
}

/** An account as administrators are shown it. */
export const viewOf = (user: ListedUser) => ({
  id: user.id,
  username: user.username,
  display_name: user.display_name,
  avatar_color: user.avatar_color,
  role: user.role,
  state: stateOf(user),
  locked_until: isoOrNull(user.locked_until),
  codes_locked_until: isoOrNull(user.codes_locked_until),
  codes_closed: user.codes_closed,
  used_bytes: user.used_bytes,
  quota_bytes: quotaOf(user.effective_quota),
  quota_is_default: user.quota_bytes === null,
  quota_percent: user.percent_used,
  device_count: user.devices,
  session_count: user.sessions,
  two_factor: user.two_factor_since !== null,
  last_seen_at: isoOrNull(user.last_seen_at),
  last_login_at: isoOrNull(user.last_login_at),
  created_at: iso(user.created_at),
})

/** How the account of this id stands. Fault `not_found`. */
export async function shownUser({ accounts }: Domain, id: number) {
  const { username } = await accounts.twoFactor.status(id)
  return viewOf(await accounts.details(username))
}
