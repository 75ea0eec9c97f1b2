import { printable } from '../../base/text.ts'
import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { usage } from '../exit.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'
import { quotaText } from './account-text.ts'
import { quotaFlag, storedQuota } from './quota-flag.ts'

export const set = command({
  name: 'user set',
  summary: 'Change display name, role, quota or colour of an account',
  details: 'Changing the role ends the browser sessions.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {
    displayName: flag.text('name shown to others', 'NAME'),
    role: flag.choice('rights', 'ROLE', ['user', 'admin']),
    quota: quotaFlag(),
    avatarColor: flag.text('colour of the avatar, such as #0b61a4', 'COLOUR'),
  },
  examples: [
    'svc user set ada --role admin',
    'svc user set ada --display-name "Ada Lovelace" --quota 50GB',
    "svc user set ada --avatar-color '#0b61a4'",
  ],
  async run({ io, domain: { accounts }, args, flags }) {
    const { displayName, role, quota, avatarColor } = flags
    if ([displayName, role, quota, avatarColor].every((value) => value === undefined)) {
      throw usage('Give what to change: --display-name, --role, --quota or --avatar-color.')
    }
    const { id } = await accounts.byName(args.name)
    const { sessions_ended } = await accounts.update(id, {
      ...(displayName !== undefined && { display_name: displayName }),
      ...(role !== undefined && { role }),
      ...(quota !== undefined && { quota_bytes: storedQuota(quota) }),
      ...(avatarColor !== undefined && { avatar_color: avatarColor.toLowerCase() }),
    })
    const user = await accounts.details(args.name)
    const changes = [
      ...(displayName !== undefined ? [`display name ${printable(user.display_name)}`] : []),
      ...(role !== undefined ? [`role ${user.role}`] : []),
      ...(quota !== undefined ? [`quota ${quotaText(user)}`] : []),
      ...(avatarColor !== undefined ? [`colour ${user.avatar_color}`] : []),
    ]
    const ended = sessions_ended > 0 ? ` ${pluralize(sessions_ended, 'session')} ended.` : ''
    io.print(`Changed ${user.username}: ${changes.join(', ')}.${ended}`, { ...documentOf(user), sessions_ended })
  },
})
