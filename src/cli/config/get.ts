import { command } from '../command.ts'

export const get = command({
  name: 'config get',
  summary: 'Print the value of one setting',
  needs: 'domain',
  onlyPrints: true,
  args: { key: 'name of the setting' },
  flags: {},
  examples: ['svc config get limits.sync_upload'],
  async run({ io, domain, args }) {
    const { optionNamed } = await import('../../wiring/config/setting-change.ts')
    const { secret } = optionNamed(args.key)
    const { shown, value, source } = (await domain.instance.settings.list()).find(({ name }) => name === args.key)!
    const masked = secret && value ? '********' : undefined
    io.print(masked ?? shown, { name: args.key, value: masked ?? value, source })
  },
})
