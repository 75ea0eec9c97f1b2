import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { readSize } from './size-argument.ts'

export const set = command({
  name: 'quota set',
  summary: 'Set how much an account may store',
  details: 'Takes effect at once. An account that already uses more keeps everything but can store nothing new.',
  needs: 'domain',
  args: { name: 'user name', size: 'size such as 10GB, none, or default' },
  flags: {},
  examples: ['svc quota set ada 10GB', 'svc quota set ada none', 'svc quota set ada default'],
  async run({ io, domain: { accounts }, args }) {
    const quota = args.size === 'default' ? null : readSize(args.size, ', or default')
    const { id } = await accounts.byName(args.name)
    await accounts.update(id, { quota_bytes: quota })
    const { username, used_bytes, effective_quota } = await accounts.details(args.name)
    const limit = effective_quota < 0 ? 'without limit' : `up to ${formatSize(effective_quota)}`
    const standard = quota === null ? ' (default)' : ''
    io.print(`${username} may store ${limit}${standard}, and uses ${formatSize(used_bytes)}.`, {
      username,
      quota_bytes: effective_quota < 0 ? null : effective_quota,
      quota_is_default: quota === null,
      used_bytes,
    })
    if (effective_quota >= 0 && used_bytes > effective_quota)
      io.warn(`${username} already uses more than that and can store nothing new until something is deleted.`)
  },
})
