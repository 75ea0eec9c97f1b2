import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const mkdir = command({
  name: 'files mkdir',
  summary: 'Create a folder and its missing parents',
  needs: 'server',
  args: { path: 'folder to create' },
  flags: { ifMissing: flag.switch('do not fail if it already exists') },
  examples: ['svc files mkdir /photos/2026', 'svc files mkdir /inbox --if-missing'],
  async run({ io, api, args, flags }) {
    const { makeFolder, remotePath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const path = remotePath(args.path)
    const { created } = await withRetry(() => makeFolder(api, path), retryOptions(io))
    if (!created && !flags.ifMissing) throw new Exit(6, `${path} already exists.`, 'exists')
    io.print(created ? `Created ${path}.` : `${path} already exists.`, { path, created })
  },
})
