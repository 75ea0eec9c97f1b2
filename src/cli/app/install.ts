import { command } from '../command.ts'
import { documentOf, labelOf } from './app-details.ts'
import { packageArg, loadPackage } from './package.ts'

export const install = command({
  name: 'app install',
  summary: 'Install an app for all users from its package',
  details:
    'Its files are stored with the data of the service and served at /apps/SLUG/. It runs in a frame without an ' +
    'origin: it cannot reach a session and loads only its own files. svc app check reports problems with a ' +
    'package beforehand.',
  needs: 'domain',
  createsDataDirectory: true,
  args: { package: packageArg },
  flags: {},
  examples: ['svc app install ./focus', 'svc app install focus-1.0.0.tar.gz'],
  async run({ io, domain: { desktop }, args }) {
    const pack = await loadPackage(io, args.package)
    const { app, changed } = await desktop.releases.install(pack)
    const words = changed
      ? `Installed ${labelOf(app)} in version ${app.version}.`
      : `${labelOf(app)} is already installed.`
    io.print(words, { ...documentOf(app), changed })
    if (app.disabled) io.info(`It is disabled: svc app enable ${app.slug}.`)
  },
})
