import { desktopComponents } from '../../contract/desktop-components.ts'
import { command } from '../command.ts'
import { usage } from '../exit.ts'
import { explainNotFound } from './api-values.ts'

export const activate = command({
  name: 'component activate',
  summary: 'Activate a version of one of your components',
  needs: 'server',
  args: { name: 'name of the component', version: 'version number, from svc component history' },
  flags: {},
  examples: ['svc component activate clock 3'],
  async run({ io, api, args: { name, ...args } }) {
    const version = Number(args.version)
    if (!/^\d{1,9}$/.test(args.version) || version < 1) throw usage(`A version is a number, not "${args.version}".`)
    await explainNotFound(api.call(desktopComponents.actions.activate, { component_id: name, version }), name, version)
    io.print(`Version ${version} of ${name} is active.`, { component_id: name, version })
  },
})
