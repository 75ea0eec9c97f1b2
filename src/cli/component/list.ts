import { iso } from '../../base/clock.ts'
import { desktopComponents } from '../../contract/desktop-components.ts'
import { command, flag } from '../command.ts'
import type { Column } from '../io.ts'
import { formatTime } from '../time-format.ts'
import { parseApiTime } from './api-values.ts'

interface Listed {
  component_id: string
  component_type: string
  active: number | null
  newest: number
  versions: number
  updated_at: number
}

const columns: Column<Listed>[] = [
  { title: 'COMPONENT', value: ({ component_id }) => component_id },
  { title: 'TYPE', value: ({ component_type }) => component_type },
  { title: 'ACTIVE', value: ({ active }) => (active === null ? 'off' : `version ${active}`) },
  { title: 'NEWEST', value: ({ newest }) => newest, align: 'right' },
  { title: 'VERSIONS', value: ({ versions }) => versions, align: 'right' },
  { title: 'CHANGED', value: ({ updated_at }) => formatTime(updated_at) },
]

const documentOf = <L extends Listed>({ updated_at, ...component }: L) => ({
  ...component,
  updated_at: iso(updated_at),
})

export const list = command({
  name: 'component list',
  summary: 'List desktop components: styles, hooks and widgets',
  details:
    'Lists your own if you are signed in. For an administrator on the data directory: with --user those of a user; with --everybody, ' +
    'or if nobody is signed in, those of all users.',
  needs: 'either',
  onlyPrints: true,
  asAdministrator: ({ user, everybody }) => user !== undefined || everybody === true,
  args: {},
  flags: {
    user: flag.text('those of this user, for administrators', 'NAME'),
    everybody: flag.switch('those of all users, for administrators'),
  },
  examples: ['svc component list', 'svc component list --user ada --json', 'svc component list --everybody'],
  async run(context) {
    const { io, flags } = context
    if ('api' in context) {
      const { components } = await context.api.call(desktopComponents.actions.overview, {})
      const own = components.map(({ updated_at, ...component }) => ({
        ...component,
        updated_at: parseApiTime(updated_at),
      }))
      const empty = 'You have no components: svc component save NAME FILE saves one.'
      return io.table(own, columns, empty, own.map(documentOf))
    }
    const { accounts, desktop } = context.domain
    const user = flags.user === undefined ? undefined : await accounts.byName(flags.user)
    const components = await desktop.components.overview(user?.id)
    io.table(
      components,
      [{ title: 'USER', value: ({ username }: (typeof components)[number]) => username }, ...columns],
      user ? `${user.username} has no components.` : 'There are no components.',
      components.map(documentOf),
    )
  },
})
