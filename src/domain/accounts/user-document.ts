import { iso, isoOrNull } from '../../base/clock.ts'
import type { ListedUser } from './listing.ts'

function stateOf(user: ListedUser): 'active' | 'disabled' | 'importing' | 'locked' | 'removing' {
  if (user.removing_since !== null) return 'removing'
  if (user.importing_at !== null) return 'importing'
  if (user.disabled_at !== null) return 'disabled'
  return user.locked ? 'locked' : 'active'
}

/** An account as administrators see it, in `--json` and in the browser: times in ISO 8601, null for unlimited. */
export const documentOf = (user: ListedUser) => ({
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
  quota_bytes: user.effective_quota < 0 ? null : user.effective_quota,
  quota_is_default: user.quota_bytes === null,
  quota_percent: user.percent_used,
  device_count: user.devices,
  session_count: user.sessions,
  two_factor: user.two_factor_since !== null,
  last_seen_at: isoOrNull(user.last_seen_at),
  last_login_at: isoOrNull(user.last_login_at),
  created_at: iso(user.created_at),
})
