import { iso } from '../../base/clock.ts'
import { desktopComponents } from '../../contract/desktop-components.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { explainNotFound, parseApiTime } from './api-values.ts'

export const history = command({
  name: 'component history',
  summary: 'List the versions of one of your components, newest first',
  needs: 'server',
  onlyPrints: true,
  args: { name: 'name of the component' },
  flags: {},
  examples: ['svc component history clock', 'svc component history clock --json'],
  async run({ io, api, args: { name } }) {
    const { versions } = await explainNotFound(
      api.call(desktopComponents.actions.history, { component_id: name }),
      name,
    )
    io.table(
      versions,
      [
        { title: 'VERSION', value: ({ version }) => version, align: 'right' },
        { title: 'STATE', value: ({ is_active }) => (is_active ? 'active' : '') },
        { title: 'SAVED', value: ({ updated_at }) => formatTime(parseApiTime(updated_at)) },
        { title: 'METADATA', value: ({ metadata }) => JSON.stringify(metadata) },
      ],
      `${name} has no versions.`,
      versions.map(({ updated_at, ...version }) => ({ ...version, updated_at: iso(parseApiTime(updated_at)) })),
    )
  },
})
