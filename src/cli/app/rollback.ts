import { command, flag } from '../command.ts'
import { documentOf, labelOf } from './app-details.ts'

export const rollback = command({
  name: 'app rollback',
  summary: 'Go back to the previous release of an app',
  details:
    'Three releases of an app are kept; svc app show lists them. The next update deletes those that were rolled ' +
    'back.',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: { to: flag.text('version of another release that is kept', 'VERSION') },
  examples: ['svc app rollback focus', 'svc app rollback focus --to 1.0.0'],
  async run({ io, domain: { desktop }, args, flags }) {
    const { app, before } = await desktop.releases.rollback(args.slug, flags.to)
    io.print(`${labelOf(app)} was rolled back from ${before} to version ${app.version}.`, {
      ...documentOf(app),
      version_before: before,
    })
  },
})
