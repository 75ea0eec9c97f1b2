import { cancelled, command, flag } from '../command.ts'

export const reset = command({
  name: 'component reset',
  summary: 'Turn off all desktop components of a user: a safe start',
  details:
    'For a desktop that its own components have made unusable. All versions and profiles stay, and the user can turn each of them on again.',
  needs: 'domain',
  args: { name: 'user name' },
  flags: { dryRun: flag.switch('show what would be turned off, and change nothing'), yes: flag.yes },
  examples: ['svc component reset ada', 'svc component reset ada --yes'],
  async run({ io, domain: { accounts, desktop }, args, flags }) {
    const { id, username } = await accounts.byName(args.name)
    const active = (await desktop.components.overview(id)).filter((component) => component.active !== null).length
    const count = (components: number) => (components === 1 ? '1 component' : `${components} components`)
    if (flags.dryRun) {
      io.say(`Would turn off ${count(active)} of ${username}.`, { username, dry_run: true, deactivated: active })
      return
    }
    if (active > 0 && !flags.yes && !(await io.confirm(`Turn off ${count(active)} of ${username}?`))) throw cancelled()
    const deactivated = await desktop.components.resetAll(id)
    const words =
      deactivated === 0 ? `${username} has no active components.` : `Turned off ${count(deactivated)} of ${username}.`
    io.say(words, { username, dry_run: false, deactivated })
  },
})
