import { command } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { isFault } from '../../contract/errors.ts'
import { retryOptions } from '../retry-options.ts'

export const cat = command({
  name: 'files cat',
  summary: 'Print files of the account, one after another',
  details:
    'Prints the bytes unchanged. If a file arrives damaged, the command ends with 1 after printing what ' +
    'had arrived.',
  needs: 'server',
  onlyPrints: true,
  args: { paths: { summary: 'files of the account', many: true } },
  flags: {},
  examples: ['svc files cat /notes.txt', 'svc files cat /part-1.csv /part-2.csv | sort'],
  async run({ io, api, args }) {
    const { lookUp, remotePath } = await import('../../client/files/remote-files.ts')
    const { download } = await import('../../client/files/download.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    for (const path of args.paths.map(remotePath)) {
      if (path === '/') throw usage('Name a file: / is a folder.')
      const opened = await withRetry(() => download(api, path), retryOptions(io)).catch(async (error: unknown) => {
        if (!isFault(error, 'not_found')) throw error
        const isFolder = (await lookUp(api, path))?.type === 'directory'
        throw isFolder ? usage(`${path} is a folder.`) : new Exit(5, `There is no ${path} in the account.`, 'not_found')
      })
      for await (const piece of opened.content) await io.raw(piece)
    }
  },
})
