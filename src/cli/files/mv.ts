import { isFault } from '../../contract/errors.ts'
import { command } from '../command.ts'
import { Exit } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const mv = command({
  name: 'files mv',
  summary: 'Move or rename a file or a folder',
  details: 'Nothing is replaced: a destination that exists is refused; if it is a folder, the source goes into it.',
  needs: 'server',
  args: { from: 'file or folder to move', to: 'new path, or a folder to move it into' },
  flags: {},
  examples: ['svc files mv /draft.txt /letter.txt', 'svc files mv /letter.txt /archive/'],
  async run({ io, api, args }) {
    const { targetPath, movePath, remotePath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const from = remotePath(args.from)
    const to = await targetPath(api, from, args.to)
    try {
      await withRetry(() => movePath(api, from, to), retryOptions(io))
    } catch (error) {
      if (isFault(error, 'exists'))
        throw new Exit(6, `${to} already exists: remove it first, or choose another name.`, 'exists')
      if (isFault(error, 'not_found')) throw new Exit(5, `There is no ${from} in the account.`, 'not_found')
      throw error
    }
    io.print(`Moved ${from} to ${to}.`, { from, to })
  },
})
