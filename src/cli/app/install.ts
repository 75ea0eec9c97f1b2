import { command } from '../command.ts'
import { documentOf, named } from './app.ts'
import { packageArg, soundPackage } from './package.ts'

export const install = command({
  name: 'app install',
  summary: 'Install an app for everybody from its package',
  details:
    'Its files are kept with the data of the service and served at /apps/SLUG/. It runs in a frame without an ' +
    'origin: it reaches no session, and loads nothing but its own files. svc app check says beforehand what is ' +
    'wrong with a package.',
  needs: 'domain',
  makesDataDirectory: true,
  args: { package: packageArg },
  flags: {},
  examples: ['svc app install ./focus', 'svc app install focus-1.0.0.tar.gz'],
  async run({ io, domain: { desktop }, args }) {
    const pack = await soundPackage(io, args.package)
    const { app, changed } = await desktop.releases.install(pack)
    const words = changed ? `Installed ${named(app)} in version ${app.version}.` : `${named(app)} is installed already.`
    io.print(words, { ...documentOf(app), changed })
    if (app.disabled) io.info(`It is disabled: svc app enable ${app.slug}.`)
  },
})
