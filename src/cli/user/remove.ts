import { formatSize } from '../../base/sizes.ts'
import { cancelled, command, flag } from '../command.ts'

export const remove = command({
  name: 'user remove',
  summary: 'Remove an account with its files and rows, for good',
  needs: 'domain',
  args: { name: 'user name' },
  flags: { yes: flag.yes },
  examples: ['svc user remove ada', 'svc user remove ada --yes'],
  async run({ io, domain: { accounts }, args, flags }) {
    const { id, username, used_bytes } = await accounts.details(args.name)
    const question = `Remove ${username} with ${formatSize(used_bytes)} of files, all rows and devices, for good?`
    if (!flags.yes && !(await io.confirm(question))) throw cancelled()
    await accounts.remove(id)
    io.say(`Removed ${username} with ${formatSize(used_bytes)} of files.`, { id, username, used_bytes, removed: true })
  },
})
