import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'
import { patienceOf } from '../patience.ts'

export const mkdir = command({
  name: 'files mkdir',
  summary: 'Create a folder and its missing parents',
  needs: 'server',
  args: { path: 'folder to create' },
  flags: { ifMissing: flag.switch('be content when it exists already') },
  examples: ['svc files mkdir /photos/2026', 'svc files mkdir /inbox --if-missing'],
  async run({ io, api, args, flags }) {
    const { remotePath } = await import('../../client/remote-files.ts')
    const { patiently } = await import('../../client/patience.ts')
    const { syncFiles } = await import('../../contract/sync-files.ts')
    const path = remotePath(args.path)
    const create = () => api.call(syncFiles.actions.mkdir, { path })
    const { created } = await patiently(create, patienceOf(io))
    if (!created && !flags.ifMissing) throw new Exit(6, `${path} exists already.`, 'exists')
    io.say(created ? `Created ${path}.` : `${path} exists already.`, { path, created })
  },
})
