import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import type { Api } from '../../client/api.ts'
import { desktopComponents } from '../../contract/desktop-components.ts'
import type { Answer } from '../../contract/define.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'
import { parseApiTime } from './api-values.ts'

const { profiles, save_profile, load_profile, rename_profile, delete_profile } = desktopComponents.actions

type Profile = Answer<typeof profiles>['profiles'][number]

interface ActionContext {
  io: Io
  api: Api
  exclusive: boolean
  yes: boolean
}

/** Actions on profiles: the number of names, and the implementation. */
const ACTIONS: Record<string, { names: number; run(place: ActionContext, names: string[]): Promise<void> }> = {
  list: { names: 0, run: show },
  save: { names: 1, run: save },
  load: { names: 1, run: load },
  rename: { names: 2, run: rename },
  remove: { names: 1, run: remove },
}

export const profile = command({
  name: 'component profile',
  summary: 'List, save, load, rename or remove profiles of your components',
  details:
    'A profile holds copies of all components that are active when it is saved. Loading it saves them as new versions and activates them; ' +
    "with --exclusive all others are turned off. If two profiles have one name, '#ID' names one of them.",
  needs: 'server',
  onlyPrints: ({ args }) => [undefined, 'list'].includes(args['action'] as undefined),
  args: {
    action: { summary: 'list (the default), save, load, rename or remove', optional: true },
    names: { summary: "name of the profile or '#ID'; for rename, then the new name", optional: true, many: true },
  },
  flags: { exclusive: flag.switch('load: turn all other components off'), yes: flag.yes },
  examples: [
    'svc component profile',
    'svc component profile save Evening',
    'svc component profile load Evening --exclusive',
    'svc component profile rename Evening Night',
    'svc component profile remove Night --yes',
  ],
  async run({ io, api, args: { action = 'list', names }, flags }) {
    const chosen = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!chosen) throw usage(`"${action}" is none of ${Object.keys(ACTIONS).join(', ')}.`)
    if (flags.exclusive && action !== 'load') throw usage('--exclusive is for load.')
    if (names.length !== chosen.names) {
      const forms = ['takes no name', 'takes the name of one profile', 'takes the name of a profile and the new one']
      throw usage(`svc component profile ${action} ${forms[chosen.names]}.`)
    }
    await chosen.run({ io, api, ...flags }, names)
  },
})

async function show({ io, api }: ActionContext): Promise<void> {
  const found = (await api.call(profiles, {})).profiles
  io.table(
    found,
    [
      { title: 'ID', value: ({ id }) => id, align: 'right' },
      { title: 'PROFILE', value: ({ name }) => name },
      { title: 'COMPONENTS', value: ({ components }) => components.join(', ') },
      { title: 'SAVED', value: ({ created_at }) => formatTime(parseApiTime(created_at)) },
    ],
    'There are no profiles: svc component profile save NAME makes one.',
    found.map(({ id, created_at, ...rest }) => ({
      profile_id: id,
      ...rest,
      created_at: iso(parseApiTime(created_at)),
    })),
  )
}

async function save({ io, api }: ActionContext, [name]: string[]): Promise<void> {
  const { profile_id, components_saved } = await api.call(save_profile, { name: name! })
  const words = `Saved ${pluralize(components_saved, 'component')} as ${printable(name!)}.`
  io.print(words, { profile_id, name, components_saved })
}

async function load({ io, api, exclusive }: ActionContext, [name]: string[]): Promise<void> {
  const { id, name: found } = await find(api, name!)
  const { components_loaded } = await api.call(load_profile, { profile_id: id, exclusive })
  const others = exclusive ? ', and turned all others off' : ''
  const words = `Loaded ${pluralize(components_loaded, 'component')} of ${printable(found)}${others}.`
  io.print(words, { profile_id: id, name: found, components_loaded, exclusive })
}

async function rename({ io, api }: ActionContext, [name, to]: string[]): Promise<void> {
  const { id, name: found } = await find(api, name!)
  await api.call(rename_profile, { profile_id: id, name: to! })
  io.print(`Renamed ${printable(found)} to ${printable(to!)}.`, { profile_id: id, name: to })
}

async function remove({ io, api, yes }: ActionContext, [name]: string[]): Promise<void> {
  const { id, name: found } = await find(api, name!)
  if (!yes && !(await io.confirm(`Remove the profile ${printable(found)}? Its components stay as they are.`)))
    throw cancelled()
  await api.call(delete_profile, { profile_id: id })
  io.print(`Removed ${printable(found)}.`, { profile_id: id, name: found, removed: true })
}

/** Finds a profile by name or `#ID`. Exit 5 if there is none, 6 if several have the name. */
async function find(api: Api, text: string): Promise<Profile> {
  const all = (await api.call(profiles, {})).profiles
  const found = all.filter(({ id, name }) => name === text || `#${id}` === text)
  if (found.length > 1) {
    const ids = found.map(({ id }) => `'#${id}'`).join(', ')
    throw new Exit(6, `${found.length} profiles are called "${text}": give one of ${ids}.`, 'ambiguous')
  }
  if (!found[0]) throw new Exit(5, `There is no profile "${text}": svc component profile list lists them.`, 'not_found')
  return found[0]
}
