import { command, flag } from '../command.ts'
import { documentOf, labelOf } from './app-details.ts'

export const rollback = command({
  name: 'app rollback',
  summary: 'Put the release before in force again',
  details:
    'Three releases are kept of an app; svc app show lists them. The next update forgets those that were rolled ' +
    'back.',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: { to: flag.text('another release that is kept, by its version', 'VERSION') },
  examples: ['svc app rollback focus', 'svc app rollback focus --to 1.0.0'],
  async run({ io, domain: { desktop }, args, flags }) {
    const { app, before } = await desktop.releases.rollback(args.slug, flags.to)
    io.print(`${labelOf(app)} is back in version ${app.version}, after ${before}.`, {
      ...documentOf(app),
      version_before: before,
    })
  },
})
