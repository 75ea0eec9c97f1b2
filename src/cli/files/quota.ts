import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'

export const quota = command({
  name: 'files quota',
  summary: 'Show the space used and allowed',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc files quota'],
  async run({ io, api }) {
    const { filesystem } = await import('../../contract/filesystem.ts')
    const { ok: _ok, ...answer } = await api.call(filesystem.actions.quota, {})
    const { used, total, percent } = answer
    const words =
      total === 0
        ? `${formatSize(used)} used, no limit.`
        : `${formatSize(used)} of ${formatSize(total)} used (${percent} %), ${formatSize(Math.max(0, total - used))} free.`
    io.print(words, answer)
  },
})
