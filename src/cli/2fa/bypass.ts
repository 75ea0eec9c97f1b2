import { iso, MINUTE } from '../../base/clock.ts'
import { command, flag } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { formatCode } from './code-text.ts'

export const bypass = command({
  name: '2fa bypass',
  summary: 'Create a code that replaces the second factor once',
  details:
    'For a user without their phone: they type it where a login asks for the code. The second factor stays on. A ' +
    'new bypass code replaces an earlier one. It is valid for 24 hours at most.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: { ttl: flag.duration('how long it is valid (10m)') },
  examples: ['svc 2fa bypass ada', 'svc 2fa bypass ada --ttl 2h', 'svc 2fa bypass ada --json'],
  async run({ io, domain: { accounts }, args, flags: { ttl = 10 * MINUTE } }) {
    const { id, username } = await accounts.byName(args.name)
    const { code, expires_at } = await accounts.twoFactor.bypass(id, ttl)
    io.printAlways(
      `Code for ${username}, valid for one login until ${formatTime(expires_at)}:\n\n    ${formatCode(code)}\n\n` +
        'This code is not shown again.',
      { username, code, expires_at: iso(expires_at) },
    )
    const { closed, locked_until } = await accounts.twoFactor.status(id)
    const { locked_until: passwordLock } = await accounts.details(username)
    if (closed || locked_until !== null || passwordLock !== null) {
      io.warn(`${username} is locked after failed attempts. The code works only after svc user unlock ${username}.`)
    }
  },
})
