import { formatSize } from '../../base/sizes.ts'
import type { ListedUser, UserOrder } from '../../domain/accounts/accounts.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Column } from '../io.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'
import { timeText, percentText, quotaText, stateText } from './account-text.ts'

const orders = ['name', 'used', 'percent', 'seen', 'created'] as const satisfies readonly UserOrder[]

const columns: readonly Column<ListedUser>[] = [
  { title: 'USER', value: ({ username }) => username },
  { title: 'NAME', value: ({ display_name }) => display_name },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'USED', value: ({ used_bytes }) => formatSize(used_bytes), align: 'right' },
  { title: 'QUOTA', value: quotaText, align: 'right' },
  { title: 'FULL', value: percentText, align: 'right' },
  { title: 'DEVICES', value: ({ devices }) => devices, align: 'right' },
  { title: '2FA', value: ({ two_factor_since }) => (two_factor_since === null ? 'off' : 'on') },
  { title: 'LAST SEEN', value: ({ last_seen_at }) => timeText(last_seen_at) },
  { title: 'STATE', value: stateText },
]

export const list = command({
  name: 'user list',
  summary: 'List accounts with what they use, and when they were last seen',
  details:
    'Last seen is the latest use of a device or browser session, or login. Filters are combined.\n' +
    'Sorted by name, or with the largest, fullest, latest or newest first.',
  needs: 'domain',
  onlyPrints: true,
  args: {},
  flags: {
    role: flag.choice('only accounts with this role', 'ROLE', ['user', 'admin']),
    disabled: flag.switch('only disabled accounts'),
    enabled: flag.switch('only accounts that are not disabled'),
    locked: flag.switch('only accounts locked after wrong passwords or codes'),
    without2fa: flag.switch('only accounts without a second factor'),
    inactive: flag.duration('only accounts not seen for this long'),
    search: flag.text('only accounts with this text in the user name or display name', 'TEXT'),
    sort: flag.choice('name, used, percent (of the quota), seen or created (name)', 'ORDER', orders),
    reverse: flag.switch('reverse the order'),
  },
  examples: [
    'svc user list',
    'svc user list --role admin --without-2fa',
    'svc user list --inactive 90d --sort seen --reverse',
    'svc user list --sort used --json',
  ],
  async run({ io, domain, flags }) {
    const { disabled, enabled, locked, without2fa, ...rest } = flags
    if (disabled && enabled) throw usage('Give --disabled or --enabled, not both.')
    const state = disabled || enabled ? { disabled } : {}
    const users = await domain.accounts.list({ ...rest, ...state, locked, without2fa })
    const isFiltered = Object.entries(flags).some(([name, value]) => name !== 'sort' && name !== 'reverse' && value)
    const nobody = isFiltered
      ? 'No account matches.'
      : 'There are no users yet: svc user add NAME --role admin adds the first.'
    io.table(users, columns, nobody, io.json ? users.map(documentOf) : undefined)
  },
})
