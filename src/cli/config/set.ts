import { command } from '../command.ts'

export const set = command({
  name: 'config set',
  summary: 'Change one setting',
  details: 'Settings that take effect at once hold for the running server too; the others from its next start on.',
  needs: 'domain',
  args: { key: 'name of the setting', value: 'its new value' },
  flags: {},
  examples: ['svc config set limits.sync_upload 600', 'svc config set public_url https://cloud.example.org'],
  async run({ io, domain, config, directory, args }) {
    const { changeSetting } = await import('../../wiring/change-setting.ts')
    const { stored, overriddenBy } = await changeSetting(
      { instance: domain.instance, config, directory },
      args.key,
      args.value,
    )
    if (overriddenBy) io.warn(`${overriddenBy} also sets ${args.key}, and that wins.`)
    const when = stored === 'database' ? 'in force now' : 'in force from the next start of the server on'
    io.say(`${args.key} is set, ${when}.`, { name: args.key, stored, overridden_by: overriddenBy ?? null })
  },
})
