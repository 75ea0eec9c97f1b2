import type { Api } from '../../client/api.ts'
import type { RetryOptions } from '../../client/http/request-retry.ts'
import { isFault } from '../../contract/errors.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const restore = command({
  name: 'trash restore',
  summary: 'Restore something deleted',
  details:
    'Give its id from `svc trash list`, or its former path: then the newest deletion of that path is restored. ' +
    'Nothing is replaced.',
  needs: 'server',
  args: { item: 'id, or former path' },
  flags: { to: flag.text('restore it to this path instead', 'PATH') },
  examples: ['svc trash restore /notes.txt', 'svc trash restore 12 --to /recovered/notes.txt'],
  async run({ io, api, args, flags }) {
    const { trash } = await import('../../contract/trash.ts')
    const { remotePath } = await import('../../client/files/remote-files.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const retry = retryOptions(io)
    const id = /^\d+$/.test(args.item) ? Number(args.item) : await idOf(api, remotePath(args.item), retry)
    const to = flags.to === undefined ? undefined : remotePath(flags.to)
    if (to === '/') throw usage('Give the whole path with --to, not a folder.')
    try {
      const { path } = await withRetry(() => api.call(trash.actions.restore, { id, ...(to && { to }) }), retry)
      io.print(`Restored ${path}.`, { id, path })
    } catch (error) {
      if (isFault(error, 'exists'))
        throw new Exit(6, `Its path is taken: remove what is there, or give another path with --to.`, 'exists')
      if (isFault(error, 'not_found')) throw notInTrash(args.item)
      throw error
    }
  },
})

const notInTrash = (item: string) =>
  new Exit(5, `There is no ${item} in the trash: svc trash list lists its entries.`, 'not_found')

async function idOf(api: Api, path: string, retry: RetryOptions): Promise<number> {
  const { trash } = await import('../../contract/trash.ts')
  const { withRetry } = await import('../../client/http/request-retry.ts')
  const { items } = await withRetry(() => api.call(trash.actions.list, {}), retry)
  const wanted = path.normalize('NFC')
  // Newest first.
  const found = items.find((item) => item.path.normalize('NFC') === wanted)
  if (!found) throw notInTrash(path)
  return found.id
}
