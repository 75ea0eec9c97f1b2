import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { documentOf, lastLoginText, quotaText, stateText } from './account.ts'

export const list = command({
  name: 'user list',
  summary: 'All accounts',
  needs: 'domain',
  args: {},
  flags: {},
  examples: ['svc user list', 'svc user list --json'],
  async run({ io, domain }) {
    const users = await domain.accounts.list()
    io.table(
      users,
      [
        { title: 'USER', value: ({ username }) => username },
        { title: 'NAME', value: ({ display_name }) => display_name },
        { title: 'ROLE', value: ({ role }) => role },
        { title: 'USED', value: ({ used_bytes }) => formatSize(used_bytes), align: 'right' },
        { title: 'QUOTA', value: quotaText, align: 'right' },
        { title: 'DEVICES', value: ({ devices }) => devices, align: 'right' },
        { title: '2FA', value: ({ two_factor_since }) => (two_factor_since === null ? 'off' : 'on') },
        { title: 'LAST LOGIN', value: lastLoginText },
        { title: 'STATE', value: stateText },
      ],
      'There are no users yet: svc user add NAME --role admin makes the first.',
      users.map(documentOf),
    )
  },
})
