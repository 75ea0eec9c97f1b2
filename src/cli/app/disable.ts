import { command } from '../command.ts'

export const disable = command({
  name: 'app disable',
  summary: 'Keep an app from everybody, at once',
  details:
    'It is not listed and its files are not served any more, also in a running server. The setting is ' +
    'disabled_apps.',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: {},
  examples: ['svc app disable finance'],
  async run({ io, domain: { desktop }, args }) {
    const changed = await desktop.registry.disable(args.slug)
    io.print(changed ? `Disabled ${args.slug}.` : `${args.slug} is disabled already.`, {
      slug: args.slug,
      state: 'disabled',
      changed,
    })
  },
})
