import { isoOrNull } from '../../base/clock.ts'
import type { TwoFactorStatus } from '../../domain/accounts/accounts.ts'
import { formatTime } from '../time-format.ts'

export const documentOf = (status: TwoFactorStatus) => ({
  username: status.username,
  role: status.role,
  disabled: status.disabled,
  enabled: status.enabled,
  enabled_at: isoOrNull(status.enabled_at),
  backup_codes_left: status.backup_codes_left,
  closed: status.closed,
  locked_until: isoOrNull(status.locked_until),
  set_up_until: isoOrNull(status.set_up_until),
  bypass_until: isoOrNull(status.bypass_until),
})

/** Describes what is unusual about the second factor or the account; empty if nothing is. */
export function stateText({ disabled, closed, locked_until, set_up_until, bypass_until }: TwoFactorStatus): string {
  const remarks: string[] = []
  if (disabled) remarks.push('account disabled')
  if (closed) remarks.push('locked until svc user unlock')
  else if (locked_until !== null) remarks.push(`locked until ${formatTime(locked_until)}`)
  if (set_up_until !== null) remarks.push('being set up')
  if (bypass_until !== null) remarks.push(`bypass code until ${formatTime(bypass_until)}`)
  return remarks.join(', ')
}
