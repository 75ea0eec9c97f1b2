import { command, flag } from '../command.ts'
import { documentOf, labelOf } from './app-details.ts'
import { packageArg, loadPackage } from './package.ts'

export const update = command({
  name: 'app update',
  summary: 'Update an installed app to a new release',
  details:
    'Takes effect at once. The two previous releases are kept for svc app rollback. An older version, or the same ' +
    'version with different contents, is refused without --force.',
  needs: 'domain',
  args: { slug: 'slug of the app', package: packageArg },
  flags: { force: flag.switch('accept an older version, or the same with different contents') },
  examples: ['svc app update focus ./focus', 'svc app update focus focus-1.1.0.tar.gz'],
  async run({ io, domain: { desktop }, args, flags }) {
    const pack = await loadPackage(io, args.package)
    const { app, before, changed } = await desktop.releases.update(args.slug, pack, flags.force)
    const words = changed
      ? `Updated ${labelOf(app)} from version ${before} to ${app.version}.`
      : `${labelOf(app)} already has these files, in version ${app.version}.`
    io.print(words, { ...documentOf(app), version_before: before, changed })
  },
})
