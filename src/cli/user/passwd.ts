import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { passwordFlags, printWithPassword, readNewPassword } from '../password.ts'

export const passwd = command({
  name: 'user passwd',
  summary: 'Set the password of an account',
  details:
    'Everyone signed in to the account is signed out, in browsers and on devices. With --keep-devices the devices stay ' +
    'signed in: use it only if nobody else knows the old password. ' +
    'It does not end a lock after wrong attempts: use svc user unlock.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {
    ...passwordFlags,
    allowWeak: flag.switch('accept a common password'),
    keepDevices: flag.switch('let devices stay signed in'),
  },
  examples: ['svc user passwd ada', 'svc user passwd ada --generate', 'svc user passwd ada --keep-devices'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username } = await accounts.byName(args.name)
    const chosen = await readNewPassword(io, flags, username)
    const { sessions, devices } = await accounts.setPassword(id, chosen.password, {
      allow_weak: flags.allowWeak,
      keep_devices: flags.keepDevices,
    })
    const text = `Set the password of ${username}; ${pluralize(devices, 'device')} and ${pluralize(sessions, 'session')} ended.`
    printWithPassword(io, chosen, text, { username, devices_ended: devices, sessions_ended: sessions })
  },
})
