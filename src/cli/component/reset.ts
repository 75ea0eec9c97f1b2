import type { Api } from '../../client/api.ts'
import { desktopComponents } from '../../contract/desktop-components.ts'
import type { Domain } from '../../domain/domain.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'

interface ResetOptions {
  name: string | undefined
  all: boolean
  dryRun: boolean
  yes: boolean
}

export const reset = command({
  name: 'component reset',
  summary: 'Turn off one or all of your components',
  details:
    'For a desktop that its components have made unusable. All versions and profiles stay, and each can be activated again.\n' +
    'If you are signed in, NAME is one of your components, and --all means all of them. For an administrator on the data directory, ' +
    'with --user or if nobody is signed in, it is a user, and all their components are turned off.',
  needs: 'either',
  asAdministrator: ({ user }) => user !== undefined,
  args: { name: { summary: 'component of your own; for administrators a user name', optional: true } },
  flags: {
    all: flag.switch('all components of your own'),
    user: flag.text('all components of this user, for administrators', 'NAME'),
    dryRun: flag.switch('show what would be turned off, and change nothing'),
    yes: flag.yes,
  },
  examples: [
    'svc component reset clock',
    'svc component reset --all --yes',
    'svc component reset --user ada --dry-run',
    'svc component reset ada --yes',
  ],
  async run(context) {
    const { io, args, flags } = context
    if ('api' in context) return resetOwn(io, context.api, { ...flags, name: args.name })
    if (flags.user !== undefined && args.name !== undefined) throw usage('Give the user once: with --user or as NAME.')
    if (flags.all) throw usage('--all is for components of your own; all those of a user are turned off in any case.')
    const name = flags.user ?? args.name
    if (name === undefined) throw usage('Give the user whose components to turn off: svc component reset --user NAME.')
    return resetOf(io, context.domain, { ...flags, name })
  },
})

const { overview, reset: resetOne, reset_all } = desktopComponents.actions

async function resetOwn(io: Io, api: Api, { name, all, dryRun, yes }: ResetOptions): Promise<void> {
  if ((name === undefined) !== all) throw usage('Give the component to turn off, or all of them with --all.')
  const { components } = await api.call(overview, {})
  if (name !== undefined && !components.some(({ component_id }) => component_id === name)) {
    const hint = `For all components of a user of this machine's data directory: svc component reset --user ${name}`
    throw new Exit(5, `You have no component "${name}": svc component list lists them. ${hint}`, 'not_found')
  }
  const active = components.filter((one) => one.active !== null && (all || one.component_id === name)).length
  const what = name ?? `${pluralize(active, 'component')} of your own`
  const document = { ...(name !== undefined && { component_id: name }), dry_run: dryRun, deactivated: active }
  if (active === 0) return io.print(name === undefined ? 'No component is active.' : `${name} is not active.`, document)
  if (dryRun) return io.print(`Would turn off ${what}.`, document)
  if (!yes && !(await io.confirm(`Turn off ${what}?`))) throw cancelled()
  if (name === undefined) await api.call(reset_all, {})
  else await api.call(resetOne, { component_id: name })
  io.print(`Turned off ${what}.`, document)
}

async function resetOf(
  io: Io,
  { accounts, desktop }: Domain,
  { name, dryRun, yes }: ResetOptions & { name: string },
): Promise<void> {
  const { id, username } = await accounts.byName(name)
  const active = (await desktop.components.overview(id)).filter((component) => component.active !== null).length
  const what = `${pluralize(active, 'component')} of ${username}`
  if (dryRun) return io.print(`Would turn off ${what}.`, { username, dry_run: true, deactivated: active })
  if (active > 0 && !yes && !(await io.confirm(`Turn off ${what}?`))) throw cancelled()
  const deactivated = await desktop.components.resetAll(id)
  const words =
    deactivated === 0
      ? `${username} has no active components.`
      : `Turned off ${pluralize(deactivated, 'component')} of ${username}.`
  io.print(words, { username, dry_run: false, deactivated })
}
