import { command } from '../command.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'

export const unlock = command({
  name: 'user unlock',
  summary: 'Unlock an account after too many wrong passwords or codes',
  details: 'Also resets the count of wrong attempts.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {},
  examples: ['svc user unlock ada'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    const unlocked = await accounts.unlock(id)
    const words = unlocked ? `Unlocked ${username}.` : `${username} was not locked.`
    io.print(words, { ...documentOf(await accounts.details(username)), unlocked })
  },
})
