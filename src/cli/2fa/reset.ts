import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'

export const reset = command({
  name: '2fa reset',
  summary: 'Take the second factor of an account away',
  details:
    'Secret, backup codes, a bypass code and a set-up that was begun go at once; sessions in browsers end, devices stay ' +
    'signed in. The password alone is enough to sign in until a new second factor is set up.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: { yes: flag.yes },
  examples: ['svc 2fa reset ada', 'svc 2fa reset ada --yes'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username } = await accounts.byName(args.name)
    const question = `Take the second factor of ${username} away, so that the password alone is enough?`
    if (!flags.yes && !(await io.confirm(question))) throw cancelled()
    const { was, sessions } = await accounts.twoFactor.reset(id)
    const words = {
      on: `${username} has no second factor any more; ${pluralize(sessions, 'session')} ended.`,
      set_up: `The set-up that ${username} had begun is forgotten; ${pluralize(sessions, 'session')} ended.`,
      off: `${username} has no second factor; nothing was changed.`,
    }
    io.print(words[was], { username, was, sessions_ended: sessions })
  },
})
