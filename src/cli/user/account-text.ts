import { formatSize } from '../../base/sizes.ts'
import type { ListedUser } from '../../domain/accounts/accounts.ts'
import { formatTime } from '../time-format.ts'

export const quotaText = ({ effective_quota }: ListedUser): string =>
  effective_quota < 0 ? 'none' : formatSize(effective_quota)

export const percentText = ({ percent_used }: ListedUser): string => (percent_used === null ? '' : `${percent_used} %`)

/** Why a user can or cannot sign in. */
export function stateText(user: ListedUser): string {
  if (user.removing_since !== null) return 'being removed'
  if (user.importing_at !== null) return 'import not complete'
  if (user.disabled_at !== null) return 'disabled'
  if (user.locked_until !== null) return `locked until ${formatTime(user.locked_until)}`
  if (user.codes_closed) return 'codes locked'
  return user.codes_locked_until === null ? 'active' : `codes locked until ${formatTime(user.codes_locked_until)}`
}

export const timeText = (time: number | null): string => (time === null ? 'never' : formatTime(time))
