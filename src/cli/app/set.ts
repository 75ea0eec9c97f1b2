import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { detailFlags, detailsOf, documentOf, labelOf } from './app-details.ts'

export const set = command({
  name: 'app set',
  summary: 'Change the details of an app',
  details: 'The details of an installed app come from its app.json: change that, and run svc app update.',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: { name: flag.text('name shown to users', 'NAME'), ...detailFlags },
  examples: [
    'svc app set wiki --name "Our wiki" --icon https://wiki.example.org/icon.png',
    'svc app set notes --category utility',
  ],
  async run({ io, domain: { desktop }, args, flags: { name, ...details } }) {
    const changes = { ...(name !== undefined && { name }), ...detailsOf(details) }
    if (Object.keys(changes).length === 0)
      throw usage(
        'Give what to change: --name, --path, --description, --category, --icon, --supports-context or --admin-only.',
      )
    const app = await desktop.registry.change(args.slug, changes)
    io.print(`Changed ${labelOf(app)}.`, documentOf(app))
  },
})
