import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { documentOf, stateText } from './status-document.ts'

export const status = command({
  name: '2fa status',
  summary: 'Show who has a second factor, since when, and how many backup codes are left',
  needs: 'domain',
  onlyPrints: true,
  args: { name: { summary: 'user name (all accounts)', optional: true } },
  flags: {},
  examples: ['svc 2fa status', 'svc 2fa status ada', 'svc 2fa status --json'],
  async run({ io, domain: { accounts }, args }) {
    if (args.name !== undefined) {
      const { id } = await accounts.byName(args.name)
      const factor = await accounts.twoFactor.status(id)
      const lines = [
        ['Second factor', factor.enabled_at === null ? 'off' : `on since ${formatTime(factor.enabled_at)}`],
        ...(factor.enabled ? [['Backup codes', `${factor.backup_codes_left} left`]] : []),
        ['State', stateText(factor) || 'nothing unusual'],
      ]
      const words = [io.paint.bold(factor.username), ...lines.map(([label, text]) => `  ${label!.padEnd(15)}${text}`)]
      io.print(words.join('\n'), documentOf(factor))
      return
    }
    const factors = await accounts.twoFactor.overview()
    io.table(
      factors,
      [
        { title: 'USER', value: ({ username }) => username },
        { title: 'ROLE', value: ({ role }) => role },
        { title: '2FA', value: ({ enabled }) => (enabled ? 'on' : 'off') },
        { title: 'SINCE', value: ({ enabled_at }) => (enabled_at === null ? '' : formatTime(enabled_at)) },
        {
          title: 'CODES LEFT',
          value: ({ enabled, backup_codes_left }) => (enabled ? backup_codes_left : ''),
          align: 'right',
        },
        { title: 'STATE', value: stateText },
      ],
      'There are no users yet.',
      factors.map(documentOf),
    )
  },
})
