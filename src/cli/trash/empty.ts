import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { retryOptions } from '../retry-options.ts'

export const empty = command({
  name: 'trash empty',
  summary: 'Remove everything in the trash for good',
  needs: 'server',
  args: {},
  flags: { yes: flag.yes },
  examples: ['svc trash empty', 'svc trash empty --yes'],
  async run({ io, api, flags }) {
    const { trash } = await import('../../contract/trash.ts')
    const { withRetry } = await import('../../client/http/retry.ts')
    const retry = retryOptions(io)
    const { items } = await withRetry(() => api.call(trash.actions.list, {}), retry)
    if (items.length === 0) {
      io.print('The trash is empty.', { deleted: 0 })
      return
    }
    if (!flags.yes && !(await io.confirm(`Remove ${pluralize(items.length, 'entry', 'entries')} for good?`)))
      throw cancelled()
    const { deleted } = await withRetry(() => api.call(trash.actions.empty, {}), retry)
    io.print(`Removed ${pluralize(deleted, 'entry', 'entries')} for good.`, { deleted })
  },
})
