import { command, flag } from '../command.ts'
import { detailFlags, detailsOf, documentOf, labelOf } from './app-details.ts'

export const add = command({
  name: 'app add',
  summary: 'Register an app for all users by its address',
  details:
    'For an app whose files are on another server. First allow its origin with svc config set ' +
    'apps.allowed_origins. To install an app from a package, use svc app install.',
  needs: 'domain',
  createsDataDirectory: true,
  args: { slug: 'name in addresses: lower-case letters, digits and hyphens' },
  flags: { name: flag.text('name shown to users (the slug)', 'NAME'), ...detailFlags },
  examples: [
    'svc app add wiki --name Wiki --path https://wiki.example.org/ --category productivity',
    'svc app add status --name "Server status" --path https://status.example.org/ --admin-only on',
  ],
  async run({ io, domain: { desktop }, args, flags }) {
    const app = await desktop.registry.add(args.slug, { name: flags.name ?? args.slug, ...detailsOf(flags) })
    io.print(`Added ${labelOf(app)}, which loads from ${app.app_path}.`, documentOf(app))
  },
})
