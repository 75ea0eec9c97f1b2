import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { ListedUser, TwoFactorStatus } from '../../domain/accounts/accounts.ts'
import { command } from '../command.ts'
import { moment } from '../moment.ts'
import { documentOf, lastLoginText, stateText } from './account.ts'

export const show = command({
  name: 'user show',
  summary: 'One account with its storage, second factor and devices',
  needs: 'domain',
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
      ['Last login', lastLoginText(user)],
      ['Created', moment(user.created_at)],
    ]
    const words = [io.paint.bold(user.username), ...lines.map(([label, text]) => `  ${label.padEnd(15)}${text}`)]
    io.say(words.join('\n'), {
      ...documentOf(user),
      backup_codes_left: factor.backup_codes_left,
      codes_locked_until: factor.locked_until === null ? null : iso(factor.locked_until),
      codes_closed: factor.closed,
    })
  },
})

function storageText({ used_bytes, effective_quota, quota_bytes }: ListedUser): string {
  const used = formatSize(used_bytes)
  const standard = quota_bytes === null ? ' (default)' : ''
  if (effective_quota < 0) return `${used} used, no limit${standard}`
  const percent = effective_quota === 0 ? 100 : Math.floor((used_bytes * 100) / effective_quota)
  return `${used} of ${formatSize(effective_quota)}${standard} used, ${percent} %`
}

function secondFactorText({ two_factor_since }: ListedUser, factor: TwoFactorStatus): string {
  if (two_factor_since === null) return 'off'
  const words = [`on since ${moment(two_factor_since)}`, `${factor.backup_codes_left} backup codes left`]
  if (factor.closed) words.push('closed after too many wrong codes: svc user unlock')
  else if (factor.locked_until !== null) words.push(`locked until ${moment(factor.locked_until)} after wrong codes`)
  return words.join(', ')
}
