import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { retryOptions } from '../retry-options.ts'

export const list = command({
  name: 'trash list',
  summary: 'List what was deleted and can be restored, newest first',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc trash list', 'svc trash list --json'],
  async run({ io, api }) {
    const { trash } = await import('../../contract/trash.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const { items } = await withRetry(() => api.call(trash.actions.list, {}), retryOptions(io))
    io.table(
      items,
      [
        { title: 'ID', value: ({ id }) => String(id), align: 'right' },
        { title: 'DELETED', value: ({ deleted_at }) => formatTime(Date.parse(deleted_at)) },
        { title: 'GONE AFTER', value: ({ expires_at }) => formatTime(Date.parse(expires_at)) },
        { title: 'SIZE', value: ({ size }) => formatSize(size), align: 'right' },
        { title: 'PATH', value: ({ path, type }) => `${path}${type === 'directory' ? '/' : ''}` },
      ],
      'The trash is empty.',
    )
  },
})
