import { command } from '../command.ts'
import { documentOf } from '../../domain/accounts/user-document.ts'

export const enable = command({
  name: 'user enable',
  summary: 'Enable a disabled account again',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {},
  examples: ['svc user enable ada'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    await accounts.enable(id)
    io.print(`${username} can sign in again.`, documentOf(await accounts.details(username)))
  },
})
