import { command } from '../command.ts'

export const unset = command({
  name: 'config unset',
  summary: 'Reset one setting to its default',
  needs: 'domain',
  args: { key: 'name of the setting' },
  flags: {},
  examples: ['svc config unset limits.sync_upload'],
  async run({ io, domain, config, directory, args }) {
    const { changeSetting } = await import('../../wiring/config/setting-change.ts')
    const { stored, overriddenBy } = await changeSetting(
      { instance: domain.instance, config, directory },
      args.key,
      undefined,
    )
    const when = stored === 'database' ? 'now' : 'from the next start of the server'
    const words = overriddenBy
      ? `${args.key} is no longer stored, but ${overriddenBy} also sets it and takes precedence.`
      : `${args.key} has its default value ${when}.`
    io.print(words, {
      name: args.key,
      stored,
      overridden_by: overriddenBy ?? null,
    })
    return overriddenBy ? 3 : 0
  },
})
