import { isFault } from '../../contract/errors.ts'
import { command } from '../command.ts'
import { Exit } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const cp = command({
  name: 'files cp',
  summary: 'Copy a file, or a folder with everything in it, on the server',
  details:
    'Nothing is replaced: a destination that exists is refused; if it is a folder, the copy goes into it. ' +
    'Nothing is transferred; the copy counts towards the quota.',
  needs: 'server',
  args: { from: 'file or folder to copy', to: 'new path, or a folder to copy it into' },
  flags: {},
  examples: ['svc files cp /letter.txt /letter-2.txt', 'svc files cp /photos /archive/'],
  async run({ io, api, args }) {
    const { targetPath, remotePath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const { filesystem } = await import('../../contract/filesystem.ts')
    const from = remotePath(args.from)
    const to = await targetPath(api, from, args.to)
    try {
      await withRetry(() => api.call(filesystem.actions.copy, { from, to }), retryOptions(io))
    } catch (error) {
      if (isFault(error, 'exists'))
        throw new Exit(6, `${to} already exists: remove it first, or choose another name.`, 'exists')
      if (isFault(error, 'not_found')) throw new Exit(5, `There is no ${from} in the account.`, 'not_found')
      throw error
    }
    io.print(`Copied ${from} to ${to}.`, { from, to })
  },
})
