import { command } from '../command.ts'

export const enable = command({
  name: 'app enable',
  summary: 'Enable a disabled app again',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: {},
  examples: ['svc app enable finance'],
  async run({ io, domain: { desktop }, args }) {
    const changed = await desktop.registry.enable(args.slug)
    io.print(changed ? `Enabled ${args.slug}.` : `${args.slug} is already enabled.`, {
      slug: args.slug,
      state: 'enabled',
      changed,
    })
  },
})
