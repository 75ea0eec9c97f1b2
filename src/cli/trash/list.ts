import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { moment } from '../moment.ts'
import { patienceOf } from '../patience.ts'

export const list = command({
  name: 'trash list',
  summary: 'What was deleted and can be restored, newest first',
  needs: 'server',
  args: {},
  flags: {},
  examples: ['svc trash list', 'svc trash list --json'],
  async run({ io, api }) {
    const { trash } = await import('../../contract/trash.ts')
    const { patiently } = await import('../../client/patience.ts')
    const { items } = await patiently(() => api.call(trash.actions.list, {}), patienceOf(io))
    io.table(
      items,
      [
        { title: 'ID', value: ({ id }) => String(id), align: 'right' },
        { title: 'DELETED', value: ({ deleted_at }) => moment(Date.parse(deleted_at)) },
        { title: 'GONE AFTER', value: ({ expires_at }) => moment(Date.parse(expires_at)) },
        { title: 'SIZE', value: ({ size }) => formatSize(size), align: 'right' },
        { title: 'PATH', value: ({ path, type }) => `${path}${type === 'directory' ? '/' : ''}` },
      ],
      'The trash is empty.',
    )
  },
})
