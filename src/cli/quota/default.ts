import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { readSize } from './size-argument.ts'

const SETTING = 'quota.default'

export const quotaDefault = command({
  name: 'quota default',
  summary: 'Show or set the quota of accounts without one of their own',
  details: 'Without a size it shows the current value. The same as svc config set quota.default.',
  needs: 'domain',
  args: { size: { summary: 'size such as 10GB, or none', optional: true } },
  flags: {},
  examples: ['svc quota default', 'svc quota default 10GB', 'svc quota default none'],
  async run({ io, domain: { instance }, config, directory, args }) {
    if (args.size !== undefined) {
      readSize(args.size)
      const { changeSetting } = await import('../../wiring/config/setting-change.ts')
      const { overriddenBy } = await changeSetting({ instance, config, directory }, SETTING, args.size)
      if (overriddenBy) io.warn(`${overriddenBy} also sets ${SETTING} and takes precedence.`)
    }
    const bytes = (await instance.settings.values())[SETTING]
    const limit = bytes < 0 ? 'without limit' : `up to ${formatSize(bytes)}`
    io.print(`Accounts without a quota of their own may store ${limit}.`, {
      default_quota_bytes: bytes < 0 ? null : bytes,
    })
  },
})
