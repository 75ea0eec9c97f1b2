import { command } from '../command.ts'
import { documentOf, sourceText } from './app-details.ts'

export const list = command({
  name: 'app list',
  summary: 'List all apps: built-in, added, installed, and the custom apps of users',
  needs: 'domain',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc app list', 'svc app list --json'],
  async run({ io, domain: { desktop } }) {
    const apps = await desktop.registry.list()
    io.table(
      apps,
      [
        { title: 'APP', value: ({ slug }) => slug },
        { title: 'NAME', value: ({ name }) => name },
        { title: 'CATEGORY', value: ({ category }) => category },
        { title: 'VERSION', value: ({ version }) => version ?? '' },
        { title: 'SOURCE', value: sourceText },
        { title: 'STATE', value: ({ disabled }) => (disabled ? 'disabled' : 'enabled') },
      ],
      'There are no apps.',
      apps.map(documentOf),
    )
  },
})
