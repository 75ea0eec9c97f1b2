import { iso } from '../../base/clock.ts'
import { desktopComponents } from '../../contract/desktop-components.ts'
import { command, flag } from '../command.ts'
import { explainNotFound, parseApiTime } from './api-values.ts'

export const get = command({
  name: 'component get',
  summary: 'Print the code of one of your components',
  details: 'Prints the active version byte for byte, or another one with --version.',
  needs: 'server',
  onlyPrints: true,
  args: { name: 'name of the component' },
  flags: { version: flag.integer('this version', 'N', 1) },
  examples: [
    'svc component get clock > clock.html',
    'svc component get clock --version 3',
    'svc component get clock --json',
  ],
  async run({ io, api, args: { name }, flags: { version } }) {
    const asked = { component_id: name, ...(version !== undefined && { version }) }
    const { component } = await explainNotFound(api.call(desktopComponents.actions.get, asked), name, version)
    if (!io.json) return io.raw(component.code)
    const { updated_at, id: _, ...rest } = component
    io.print('', { ...rest, updated_at: iso(parseApiTime(updated_at)) })
  },
})
