import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { ListedUser, TwoFactorStatus } from '../../domain/accounts/accounts.ts'
import { command } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { formatTime } from '../time-format.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'
import { timeText, stateText } from './account-text.ts'

export const show = command({
  name: 'user show',
  summary: 'Show one account with its storage, second factor, devices and sessions',
  needs: 'domain',
  onlyPrints: true,
  args: { name: 'user name' },
  flags: {},
  examples: ['svc user show ada', 'svc user show ada --json'],
  async run({ io, domain: { accounts }, args }) {
    const user = await accounts.details(args.name)
    const factor = await accounts.twoFactor.status(user.id)
    const lines: [string, string][] = [
      ['Name', printable(user.display_name)],
      ['Role', user.role],
      ['State', stateText(user)],
      ['Storage', storageText(user)],
      ['Second factor', secondFactorText(user, factor)],
      ['Devices', String(user.devices)],
      ['Sessions', String(user.sessions)],
      ['Rooms', String(user.rooms)],
      ['Last seen', timeText(user.last_seen_at)],
      ['Last login', timeText(user.last_login_at)],
      ['Created', formatTime(user.created_at)],
      ['Colour', user.avatar_color],
      ['ID', String(user.id)],
    ]
    const words = [io.paint.bold(user.username), ...lines.map(([label, text]) => `  ${label.padEnd(15)}${text}`)]
    io.print(words.join('\n'), {
      ...documentOf(user),
      two_factor_since: factor.enabled_at === null ? null : iso(factor.enabled_at),
      backup_codes_left: factor.backup_codes_left,
      bypass_until: factor.bypass_until === null ? null : iso(factor.bypass_until),
      room_count: user.rooms,
    })
  },
})

function storageText(user: ListedUser): string {
  const used = formatSize(user.used_bytes)
  const standard = user.quota_bytes === null ? ' (default)' : ''
  if (user.percent_used === null) return `${used} used, no limit${standard}`
  return `${used} of ${formatSize(user.effective_quota)}${standard} used, ${user.percent_used} %`
}

function secondFactorText({ two_factor_since }: ListedUser, factor: TwoFactorStatus): string {
  if (two_factor_since === null) return factor.set_up_until === null ? 'off' : 'off, being set up'
  const words = [
    `on since ${formatTime(two_factor_since)}`,
    `${pluralize(factor.backup_codes_left, 'backup code')} left`,
    ...(factor.bypass_until === null ? [] : [`bypass code until ${formatTime(factor.bypass_until)}`]),
  ]
  if (factor.closed) words.push('closed after too many wrong codes: svc user unlock')
  else if (factor.locked_until !== null) words.push(`locked until ${formatTime(factor.locked_until)} after wrong codes`)
  return words.join(', ')
}
