import { printable } from '../../base/text.ts'
import { apps } from '../../contract/apps.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'

export const openApp = command({
  name: 'app open',
  summary: 'Open an app of your desktop in the browser',
  details:
    'Prints the address. On a terminal it also starts the browser (BROWSER, else the default of the system). The browser asks ' +
    'you to sign in if you have not yet.',
  needs: 'server',
  onlyPrints: true,
  args: {
    slug: 'app, as in its address, such as files',
    path: { summary: 'what the app should show, such as /Reports', optional: true },
  },
  flags: { print: flag.switch('print the address only') },
  examples: ['svc app open notes', 'svc app open files /Reports', 'svc app open files --print'],
  async run({ io, api, globals, args: { slug, path }, flags }) {
    if (path !== undefined && !path.startsWith('/')) throw usage('A path begins with a slash.')
    const known = (await api.call(apps.actions.list, {})).apps
    if (!known.some((app) => app.slug === slug)) {
      const slugs = known.map((app) => app.slug).join(', ')
      throw new Exit(5, `You have no app "${slug}", but ${slugs || 'none at all'}.`, 'not_found')
    }
    const url = `${api.url}/#${new URLSearchParams({ open: slug, ...(path !== undefined && { path }) })}`
    const isWanted = !flags.print && !io.json && process.stdout.isTTY
    io.print(printable(url), { slug, path: path ?? '/', url })
    if (!isWanted) return
    const { startBrowser } = await import('../browser.ts')
    if (!(await startBrowser(url, globals.env))) io.info('No browser could be started: open the address yourself.')
  },
})
