import { iso } from '../../base/clock.ts'
import { command, flag } from '../command.ts'
import { moment } from '../moment.ts'

export const list = command({
  name: 'component list',
  summary: 'Desktop components that users made: styles, scripts and widgets',
  needs: 'domain',
  args: {},
  flags: { user: flag.text('only those of this user', 'NAME') },
  examples: ['svc component list', 'svc component list --user ada --json'],
  async run({ io, domain: { accounts, desktop }, flags }) {
    const user = flags.user === undefined ? undefined : await accounts.byName(flags.user)
    const components = await desktop.components.overview(user?.id)
    io.table(
      components,
      [
        { title: 'USER', value: ({ username }) => username },
        { title: 'COMPONENT', value: ({ component_id }) => component_id },
        { title: 'TYPE', value: ({ component_type }) => component_type },
        { title: 'ACTIVE', value: ({ active }) => (active === null ? 'off' : `version ${active}`) },
        { title: 'NEWEST', value: ({ newest }) => newest, align: 'right' },
        { title: 'VERSIONS', value: ({ versions }) => versions, align: 'right' },
        { title: 'CHANGED', value: ({ updated_at }) => moment(updated_at) },
      ],
      user ? `${user.username} has made no components.` : 'Nobody has made components.',
      components.map(({ updated_at, ...component }) => ({ ...component, updated_at: iso(updated_at) })),
    )
  },
})
