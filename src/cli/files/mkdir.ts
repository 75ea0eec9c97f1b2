import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const mkdir = command({
  name: 'files mkdir',
  summary: 'Create a folder and its missing parents',
  needs: 'server',
  args: { path: 'folder to create' },
  flags: { ifMissing: flag.switch('be content when it exists already') },
  examples: ['svc files mkdir /photos/2026', 'svc files mkdir /inbox --if-missing'],
  async run({ io, api, args, flags }) {
    const { makeFolder, remotePath } = await import('../../client/remote-files.ts')
    const { withRetry } = await import('../../client/http/retry.ts')
    const path = remotePath(args.path)
    const { created } = await withRetry(() => makeFolder(api, path), retryOptions(io))
    if (!created && !flags.ifMissing) throw new Exit(6, `${path} exists already.`, 'exists')
    io.print(created ? `Created ${path}.` : `${path} exists already.`, { path, created })
  },
})
