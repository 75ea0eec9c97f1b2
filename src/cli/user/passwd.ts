import { command, flag } from '../command.ts'
import { counted } from '../counted.ts'
import { passwordFlags, passwordLine, readNewPassword } from '../password.ts'

export const passwd = command({
  name: 'user passwd',
  summary: 'Set the password of an account',
  details:
    'Sessions in browsers end. Devices that are signed in stay so; svc device revoke NAME --all ends them too. ' +
    'Wrong attempts that were counted stay counted: svc user unlock.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: { ...passwordFlags, allowWeak: flag.switch('accept a common password') },
  examples: ['svc user passwd ada', 'svc user passwd ada --generate'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username } = await accounts.byName(args.name)
    const chosen = await readNewPassword(io, flags, username)
    const { sessions } = await accounts.setPassword(id, chosen.password, { allow_weak: flags.allowWeak })
    const words = `Set the password of ${username}; ${counted(sessions, 'session')} ended.`
    const password = chosen.generated ? { password: chosen.password } : {}
    io.say(words + passwordLine(chosen), { username, sessions_ended: sessions, ...password })
  },
})
