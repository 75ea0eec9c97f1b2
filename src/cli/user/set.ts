import { printable } from '../../base/text.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { documentOf, quotaText } from './account.ts'
import { quotaFlag, storedQuota } from './quota-flag.ts'

export const set = command({
  name: 'user set',
  summary: 'Change display name, role or quota of an account',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {
    displayName: flag.text('name shown to others', 'NAME'),
    role: flag.choice('rights', 'ROLE', ['user', 'admin']),
    quota: quotaFlag(),
  },
  examples: ['svc user set ada --role admin', 'svc user set ada --display-name "Ada Lovelace" --quota 50GB'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { displayName, role, quota } = flags
    if (displayName === undefined && role === undefined && quota === undefined) {
      throw usage('Say what to change: --display-name, --role or --quota.')
    }
    const { id } = await accounts.byName(args.name)
    await accounts.update(id, {
      ...(displayName !== undefined && { display_name: displayName }),
      ...(role !== undefined && { role }),
      ...(quota !== undefined && { quota_bytes: storedQuota(quota) }),
    })
    const user = await accounts.details(args.name)
    const changes = [
      ...(displayName !== undefined ? [`display name ${printable(user.display_name)}`] : []),
      ...(role !== undefined ? [`role ${user.role}`] : []),
      ...(quota !== undefined ? [`quota ${quotaText(user)}`] : []),
    ]
    io.say(`Changed ${user.username}: ${changes.join(', ')}.`, documentOf(user))
  },
})
