import { fault, isFault } from '../../contract/errors.ts'
import { command, flag } from '../command.ts'
import { passwordFlags, printWithPassword, readNewPassword } from '../password.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'
import { commandLine } from '../../base/shell-words.ts'
import { signInAddress } from '../sign-in-address.ts'
import { quotaFlag, storedQuota } from './quota-flag.ts'

export const add = command({
  name: 'user add',
  summary: 'Add an account',
  details:
    'User names are lower-case ASCII. A password has at least 8 bytes and must not be a common one.\n' +
    'With --if-missing an existing account is left as it is.',
  needs: 'domain',
  createsDataDirectory: true,
  args: { name: 'user name' },
  flags: {
    displayName: flag.text('name shown to others (the user name)', 'NAME'),
    role: flag.choice('rights (user)', 'ROLE', ['user', 'admin']),
    quota: quotaFlag(),
    ...passwordFlags,
    allowWeak: flag.switch('accept a common password'),
    ifMissing: flag.switch('do nothing if the account exists'),
  },
  examples: [
    'svc user add ada',
    'svc user add ada --display-name "Ada Lovelace" --role admin --generate',
    'svc user add ci --quota 10GB --password-file ci.txt --if-missing',
  ],
  async run({ io, globals, domain: { accounts, instance }, args, flags }) {
    // Check before prompting for a password.
    const existing = await accounts.details(args.name).catch(unlessMissing)
    if (existing && flags.ifMissing) {
      io.print(`${existing.username} already exists; nothing was changed.`, {
        created: false,
        user: documentOf(existing),
      })
      return
    }
    if (existing) throw fault('exists', { text: `There is already a user named "${existing.username}".` })
    const chosen = await readNewPassword(io, flags, args.name)
    const { username } = await accounts.create({
      username: args.name,
      password: chosen.password,
      allow_weak: flags.allowWeak,
      ...(flags.displayName !== undefined && { display_name: flags.displayName }),
      ...(flags.role !== undefined && { role: flags.role }),
      ...(flags.quota !== undefined && { quota_bytes: storedQuota(flags.quota) }),
    })
    const user = await accounts.details(username)
    const text = `Added ${username}${user.role === 'admin' ? ' as an administrator' : ''}.`
    const isFirst = user.role === 'admin' && (await accounts.list({ role: 'admin' })).length === 1
    const address = isFirst ? await signInAddress(instance) : undefined
    const next = address === undefined ? '' : `\nSign in at ${address} while ${commandLine(globals, ['serve'])} runs.`
    printWithPassword(io, chosen, text, { created: true, user: documentOf(user) }, next)
  },
})

function unlessMissing(error: unknown): undefined {
  if (!isFault(error, 'not_found')) throw error
}
