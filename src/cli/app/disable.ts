import { command } from '../command.ts'

export const disable = command({
  name: 'app disable',
  summary: 'Disable an app for all users, at once',
  details:
    'It is no longer listed and its files are no longer served, also by a running server. The setting is ' +
    'disabled_apps.',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: {},
  examples: ['svc app disable finance'],
  async run({ io, domain: { desktop }, args }) {
    const changed = await desktop.registry.disable(args.slug)
    io.print(changed ? `Disabled ${args.slug}.` : `${args.slug} is already disabled.`, {
      slug: args.slug,
      state: 'disabled',
      changed,
    })
  },
})
