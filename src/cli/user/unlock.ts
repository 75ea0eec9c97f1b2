import { command } from '../command.ts'
import { documentOf } from './account.ts'

export const unlock = command({
  name: 'user unlock',
  summary: 'End the lock after too many wrong passwords or codes',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {},
  examples: ['svc user unlock ada'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    await accounts.unlock(id)
    io.say(`${username} is not locked.`, documentOf(await accounts.details(username)))
  },
})
