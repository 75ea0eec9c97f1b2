import { fault } from '../../contract/errors.ts'
import { cancelled, command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const rm = command({
  name: 'files rm',
  summary: 'Delete files or folders; they can be restored for a while',
  needs: 'server',
  args: { paths: { summary: 'files or folders', many: true } },
  flags: { recursive: flag.switch('folders with everything in them', { short: 'r' }), yes: flag.yes },
  examples: ['svc files rm /old.txt', 'svc files rm -r /photos/2019 --yes'],
  async run({ io, api, args, flags }) {
    const { lookUp, remotePath, trashPath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const paths = [...new Set(args.paths.map(remotePath))]
    // Check all paths before deleting anything.
    for (const path of paths) {
      if (path === '/') throw usage('The top folder cannot be deleted: name what is in it.')
      const item = await lookUp(api, path)
      if (!item) throw fault('not_found', { text: `There is no ${path} in the account; nothing was deleted.` })
      if (item.type === 'directory' && !flags.recursive)
        throw usage(`${path} is a folder: delete it and everything in it with -r.`)
    }
    const named = paths.length === 1 ? paths[0]! : `${paths.length} files or folders`
    if (!flags.yes && !(await io.confirm(`Delete ${named}${flags.recursive ? ' and everything below' : ''}?`)))
      throw cancelled()

    const done: { path: string; deleted: boolean }[] = []
    for (const path of paths) {
      const deleted = await withRetry(() => trashPath(api, path), retryOptions(io))
      done.push({ path, deleted })
    }
    io.print(`Deleted ${named}.`, done)
  },
})
