import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { retryOptions } from '../retry-options.ts'

export const empty = command({
  name: 'trash empty',
  summary: 'Delete everything in the trash permanently',
  needs: 'server',
  args: {},
  flags: { yes: flag.yes },
  examples: ['svc trash empty', 'svc trash empty --yes'],
  async run({ io, api, flags }) {
    const { trash } = await import('../../contract/trash.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const retry = retryOptions(io)
    const { items } = await withRetry(() => api.call(trash.actions.list, {}), retry)
    if (items.length === 0) {
      io.print('The trash is empty.', { deleted: 0 })
      return
    }
    if (!flags.yes && !(await io.confirm(`Delete ${pluralize(items.length, 'entry', 'entries')} permanently?`)))
      throw cancelled()
    const { deleted } = await withRetry(() => api.call(trash.actions.empty, {}), retry)
    io.print(`Deleted ${pluralize(deleted, 'entry', 'entries')} permanently.`, { deleted })
  },
})
