import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { stat } from 'node:fs/promises'
import { formatSize } from '../../../base/sizes.ts'
import { partnerOf } from '../../../client/chat/room-names.ts'
import { downloadFromRoom, roomFiles, uploadToRoom } from '../../../client/chat/room-files.ts'
import { teamChat } from '../../../contract/team-chat.ts'
import { usage } from '../../exit.ts'
import { formatTime } from '../../times.ts'
import { openDirect, peopleNamed } from '../place.ts'
import type { Desk } from './desk.ts'
import { makeList } from './list.ts'
import { goTo, search } from './places.ts'
import { safe } from './markup.ts'

interface Slash {
  /** Its arguments as the help shows them. */
  args: string
  summary: string
  run: (desk: Desk, rest: string) => Promise<void> | void
}

const { actions } = teamChat

function here(desk: Desk) {
  const room = desk.room()
  if (!room) throw usage('No room is open.')
  return room
}

const given = (rest: string, what: string): string => {
  if (rest === '') throw usage(`Say ${what}.`)
  return rest
}

/** A local path as it is typed; `~/` is the home folder, and blanks belong to it. */
const local = (text: string): string => (text.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(text))

async function upload(desk: Desk, rest: string): Promise<void> {
  const room = here(desk)
  const path = local(given(rest, 'which file to upload'))
  desk.say(`Uploading ${basename(path)}…`)
  const { name, size } = await uploadToRoom(desk.session.api, room, path)
  desk.session.post(`📎 ${name} (${formatSize(size)})`)
  desk.say(`Uploaded ${name}.`)
}

async function download(desk: Desk, rest: string): Promise<void> {
  const room = here(desk)
  const { api } = desk.session
  const files = await roomFiles(api, room)
  const text = given(rest, 'which file to download')
  // Names may hold blanks: the longest name that the text begins with.
  const named = files
    .map(({ name }) => name)
    .filter((name) => text === name || text.startsWith(`${name} `))
    .sort((a, b) => b.length - a.length)[0]
  const name = named ?? text
  const wanted = local(text.slice(name.length).trim() || '.')
  const isFolder = await stat(wanted).then(
    (found) => found.isDirectory(),
    () => false,
  )
  // What the server calls the file never leads out of the folder.
  const target = isFolder ? join(wanted, basename(name)) : wanted
  desk.say(`Downloading ${safe(name)}…`)
  const path = await downloadFromRoom(api, room, name, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw usage(`${target} exists already: name another one.`)
    throw error
  })
  desk.say(`Downloaded to ${path}.`)
}

async function files(desk: Desk): Promise<void> {
  const found = await roomFiles(desk.session.api, here(desk))
  const items = found.map(({ name, size, modified }) => ({
    label: [
      { text: safe(name) },
      { text: `  ${formatSize(size ?? 0)}, ${formatTime(Date.parse(modified))}`, dim: true },
    ],
    find: name,
    choose: () => desk.doing(() => download(desk, name)),
  }))
  desk.show(makeList('Files of the room: Enter downloads', items, 'There are none: /upload FILE brings one here.'))
}

async function members(desk: Desk): Promise<void> {
  const { members: found } = await desk.session.api.call(actions.members, { room_id: here(desk).room_id })
  const items = found.map(({ username, display_name, id }) => ({
    label: [
      { text: desk.session.state.online.has(id) ? '● ' : '○ ' },
      { text: safe(username), bold: true },
      { text: `  ${safe(display_name)}`, dim: true },
    ],
    find: `${username} ${display_name}`,
    choose: () => desk.doing(() => direct(desk, username)),
  }))
  desk.show(makeList('Who is here: Enter begins a conversation', items, 'Nobody.'))
}

async function direct(desk: Desk, rest: string): Promise<void> {
  const name = given(rest, 'whom to talk to').replace(/^@/, '')
  const { session } = desk
  const known = session.state.rooms.find((room) => partnerOf(room, session.state.me!.id)?.username === name)
  const room = known ?? (await openDirect(session.api, name))
  if (!known) await session.loadRooms()
  desk.open(room.room_id)
}

async function create(desk: Desk, rest: string): Promise<void> {
  const params = { name: given(rest, 'how the room is called'), type: 'channel' as const, participants: [] }
  const { room } = await desk.session.api.call(actions.create_room, params)
  await desk.session.loadRooms()
  desk.open(room.room_id)
  desk.say('The room is open: /invite USER brings people in.')
}

async function invite(desk: Desk, rest: string): Promise<void> {
  const room = here(desk)
  const people = await peopleNamed(desk.session.api, given(rest, 'whom to bring in').split(/\s+/))
  await desk.session.api.call(actions.invite, { room_id: room.room_id, user_ids: people.map(({ id }) => id) })
  await desk.session.loadRooms()
  desk.say(`In the room now: ${people.map(({ username }) => safe(username)).join(', ')}.`)
}

async function rename(desk: Desk, rest: string): Promise<void> {
  const params = { room_id: here(desk).room_id, name: given(rest, 'the new name') }
  await desk.session.api.call(actions.rename_room, params)
  await desk.session.loadRooms()
}

function leave(desk: Desk): void {
  const { room_id, name } = here(desk)
  const yes = () =>
    desk.doing(async () => {
      await desk.session.api.call(actions.leave, { room_id })
      await desk.session.loadRooms()
    })
  desk.mode = { kind: 'confirm', question: `Leave ${safe(name)}?`, yes }
}

/** What can be done by a text that begins with a slash. */
export const slashes: Record<string, Slash> = {
  go: { args: '[NAME]', summary: 'go to a room or a person', run: goTo },
  dm: { args: 'USER', summary: 'talk to somebody alone', run: direct },
  create: { args: 'NAME', summary: 'open a new room', run: create },
  invite: { args: 'USER …', summary: 'bring people into this room', run: invite },
  members: { args: '', summary: 'who is in this room', run: members },
  rename: { args: 'NAME', summary: 'call this room something else', run: rename },
  leave: { args: '', summary: 'leave this room', run: leave },
  files: { args: '', summary: 'files of this room', run: files },
  upload: { args: 'FILE', summary: 'put a local file into this room', run: upload },
  download: { args: 'NAME [TO]', summary: 'fetch a file of this room', run: download },
  search: {
    args: 'TEXT',
    summary: 'find messages in all rooms',
    run: (desk, rest) => search(desk, given(rest, 'what to look for')),
  },
  help: { args: '', summary: 'keys and commands', run: (desk) => void (desk.mode = { kind: 'help', top: 0 }) },
  quit: { args: '', summary: 'leave the chat', run: (desk) => desk.quit() },
}

/** Carries out what a text that begins with a slash says. */
export function runSlash(desk: Desk, text: string): void {
  const [, name = '', rest = ''] = /^\/([a-z]*)\s*([\s\S]*)$/.exec(text) ?? []
  const slash = Object.hasOwn(slashes, name) ? slashes[name] : undefined
  if (!slash)
    return desk.say(`There is no /${name}: F1 shows what there is, and // begins a message with a slash.`, 'error')
  desk.composer.set('')
  desk.doing(async () => slash.run(desk, rest.trim()))
}
