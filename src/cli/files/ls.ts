import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import { listFolder, lookUp, remotePath } from '../../client/files/remote-files.ts'
import { withRetry } from '../../client/http/request-retry.ts'
import { fault } from '../../contract/errors.ts'
import { command, flag } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { retryOptions } from '../retry-options.ts'

export const ls = command({
  name: 'files ls',
  summary: 'List the contents of a folder',
  needs: 'server',
  onlyPrints: true,
  args: { path: { summary: 'folder or file (the top folder)', optional: true } },
  flags: { long: flag.switch('with size and time', { short: 'l' }) },
  examples: ['svc files ls', 'svc files ls -l /photos', 'svc files ls /photos --json'],
  async run({ io, api, args, flags }) {
    const path = remotePath(args.path ?? '/')
    const items = await withRetry(async () => {
      const inside = await listFolder(api, path)
      if (inside) return inside
      const file = await lookUp(api, path)
      return file && [file]
    }, retryOptions(io))
    if (!items) throw fault('not_found', { text: `There is no ${path} in the account.` })

    const shown = (item: (typeof items)[number]) => `${item.name}${item.type === 'directory' ? '/' : ''}`
    if (flags.long || io.json) {
      io.table(
        items,
        [
          { title: 'SIZE', value: ({ size }) => (size === undefined ? '' : formatSize(size)), align: 'right' },
          { title: 'MODIFIED', value: ({ modified }) => localTime(modified) },
          { title: 'NAME', value: shown },
        ],
        `${path} is empty.`,
      )
    } else if (items.length > 0) {
      io.print(items.map((item) => printable(shown(item))).join('\n'), items)
    }
  },
})

/** Empty if the server sends an invalid time. */
function localTime(iso: string): string {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? '' : formatTime(time)
}
