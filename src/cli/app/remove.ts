import { cancelled, command, flag } from '../command.ts'
import { documentOf, labelOf, sourceText } from './app-details.ts'

export const remove = command({
  name: 'app remove',
  summary: 'Remove an app with its releases',
  details:
    'What users created with an app belongs to their accounts and stays. An app that was disabled is disabled again when it is ' +
    'reinstalled, unless --purge is given. Built-in apps can only be disabled.',
  needs: 'domain',
  args: { slug: 'slug of the app' },
  flags: { purge: flag.switch('also forget whether it was disabled'), yes: flag.yes },
  examples: ['svc app remove focus', 'svc app remove focus --purge --yes'],
  async run({ io, domain: { desktop }, args, flags }) {
    const app = await desktop.registry.find(args.slug)
    // Refuse before asking for confirmation.
    const what = app.source === 'installed' ? `version ${app.version} and the releases before it` : sourceText(app)
    if (app.source !== 'system' && !flags.yes && !(await io.confirm(`Remove ${labelOf(app)}, ${what}?`)))
      throw cancelled()
    await desktop.registry.remove(args.slug, flags.purge)
    io.print(`Removed ${labelOf(app)}.`, { ...documentOf(app), removed: true, purged: flags.purge })
  },
})
