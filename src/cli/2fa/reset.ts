import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'

export const reset = command({
  name: '2fa reset',
  summary: 'Remove the second factor of an account',
  details:
    'The secret, the backup codes, a bypass code and an unfinished setup are deleted at once. Browser sessions end, devices stay ' +
    'signed in. Until a new second factor is set up, the password alone is enough to sign in.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: { yes: flag.yes },
  examples: ['svc 2fa reset ada', 'svc 2fa reset ada --yes'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username } = await accounts.byName(args.name)
    const question = `Remove the second factor of ${username}, so that the password alone is enough?`
    if (!flags.yes && !(await io.confirm(question))) throw cancelled()
    const { was, sessions } = await accounts.twoFactor.reset(id)
    const words = {
      on: `${username} no longer has a second factor; ${pluralize(sessions, 'session')} ended.`,
      set_up: `The unfinished setup of ${username} is deleted; ${pluralize(sessions, 'session')} ended.`,
      off: `${username} has no second factor; nothing was changed.`,
    }
    io.print(words[was], { username, was, sessions_ended: sessions })
  },
})
