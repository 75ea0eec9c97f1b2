import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { stat } from 'node:fs/promises'
import { formatSize } from '../../../base/sizes.ts'
import { partnerOf } from '../../../client/chat/room-names.ts'
import { downloadFromRoom, roomFiles, uploadToRoom } from '../../../client/chat/room-files.ts'
import { teamChat } from '../../../contract/team-chat.ts'
import { usage } from '../../exit.ts'
import { formatTime } from '../../time-format.ts'
import { openDirectRoom, findPeople } from '../room-lookup.ts'
import type { ScreenState } from './screen-state.ts'
import { makeSelectList } from './select-list.ts'
import { pickRoom, searchMessages } from './pickers.ts'
import { sanitize } from './markup.ts'

interface SlashCommand {
  /** Its arguments in the help. */
  args: string
  summary: string
  run: (screen: ScreenState, rest: string) => Promise<void> | void
}

const { actions } = teamChat

function openRoom(screen: ScreenState) {
  const room = screen.room()
  if (!room) throw usage('No room is open.')
  return room
}

const requireText = (rest: string, what: string): string => {
  if (rest === '') throw usage(`Say ${what}.`)
  return rest
}

/** Resolves a local path; `~/` is the home folder, and spaces are part of the path. */
const localPath = (text: string): string => (text.startsWith('~/') ? join(homedir(), text.slice(2)) : resolve(text))

async function upload(screen: ScreenState, rest: string): Promise<void> {
  const room = openRoom(screen)
  const path = localPath(requireText(rest, 'which file to upload'))
  screen.notify(`Uploading ${basename(path)}…`)
  const { name, size } = await uploadToRoom(screen.session.api, room, path)
  screen.session.post(`📎 ${name} (${formatSize(size)})`)
  screen.notify(`Uploaded ${name}.`)
}

async function download(screen: ScreenState, rest: string): Promise<void> {
  const room = openRoom(screen)
  const { api } = screen.session
  const files = await roomFiles(api, room)
  const text = requireText(rest, 'which file to download')
  // Names may contain spaces: take the longest file name that the text starts with.
  const named = files
    .map(({ name }) => name)
    .filter((name) => text === name || text.startsWith(`${name} `))
    .sort((a, b) => b.length - a.length)[0]
  const name = named ?? text
  const wanted = localPath(text.slice(name.length).trim() || '.')
  const isFolder = await stat(wanted).then(
    (found) => found.isDirectory(),
    () => false,
  )
  // The server's name for the file must not lead out of the folder.
  const target = isFolder ? join(wanted, basename(name)) : wanted
  screen.notify(`Downloading ${sanitize(name)}…`)
  const path = await downloadFromRoom(api, room, name, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw usage(`${target} already exists: give another name.`)
    throw error
  })
  screen.notify(`Downloaded to ${path}.`)
}

async function files(screen: ScreenState): Promise<void> {
  const found = await roomFiles(screen.session.api, openRoom(screen))
  const items = found.map(({ name, size, modified }) => ({
    label: [
      { text: sanitize(name) },
      { text: `  ${formatSize(size ?? 0)}, ${formatTime(Date.parse(modified))}`, dim: true },
    ],
    find: name,
    choose: () => screen.runTask(() => download(screen, name)),
  }))
  screen.show(makeSelectList('Files of the room: Enter downloads', items, 'There are none: /upload FILE adds one.'))
}

async function members(screen: ScreenState): Promise<void> {
  const { members: found } = await screen.session.api.call(actions.members, { room_id: openRoom(screen).room_id })
  const items = found.map(({ username, display_name, id }) => ({
    label: [
      { text: screen.session.state.online.has(id) ? '● ' : '○ ' },
      { text: sanitize(username), bold: true },
      { text: `  ${sanitize(display_name)}`, dim: true },
    ],
    find: `${username} ${display_name}`,
    choose: () => screen.runTask(() => direct(screen, username)),
  }))
  screen.show(makeSelectList('Who is here: Enter starts a conversation', items, 'Nobody.'))
}

async function direct(screen: ScreenState, rest: string): Promise<void> {
  const name = requireText(rest, 'whom to talk to').replace(/^@/, '')
  const { session } = screen
  const known = session.state.rooms.find((room) => partnerOf(room, session.state.me!.id)?.username === name)
  const room = known ?? (await openDirectRoom(session.api, name))
  if (!known) await session.loadRooms()
  screen.open(room.room_id)
}

async function create(screen: ScreenState, rest: string): Promise<void> {
  const params = { name: requireText(rest, 'name of the room'), type: 'channel' as const, participants: [] }
  const { room } = await screen.session.api.call(actions.create_room, params)
  await screen.session.loadRooms()
  screen.open(room.room_id)
  screen.notify('The room is created: /invite USER adds people.')
}

async function invite(screen: ScreenState, rest: string): Promise<void> {
  const room = openRoom(screen)
  const people = await findPeople(screen.session.api, requireText(rest, 'users to add').split(/\s+/))
  await screen.session.api.call(actions.invite, { room_id: room.room_id, user_ids: people.map(({ id }) => id) })
  await screen.session.loadRooms()
  screen.notify(`Now in the room: ${people.map(({ username }) => sanitize(username)).join(', ')}.`)
}

async function rename(screen: ScreenState, rest: string): Promise<void> {
  const params = { room_id: openRoom(screen).room_id, name: requireText(rest, 'the new name') }
  await screen.session.api.call(actions.rename_room, params)
  await screen.session.loadRooms()
}

function leave(screen: ScreenState): void {
  const { room_id, name } = openRoom(screen)
  const yes = () =>
    screen.runTask(async () => {
      await screen.session.api.call(actions.leave, { room_id })
      await screen.session.loadRooms()
    })
  screen.mode = { kind: 'confirm', question: `Leave ${sanitize(name)}?`, yes }
}

export const slashCommands: Record<string, SlashCommand> = {
  go: { args: '[NAME]', summary: 'go to a room or conversation', run: pickRoom },
  dm: { args: 'USER', summary: 'start a direct conversation', run: direct },
  create: { args: 'NAME', summary: 'create a room', run: create },
  invite: { args: 'USER …', summary: 'add people to this room', run: invite },
  members: { args: '', summary: 'who is in this room', run: members },
  rename: { args: 'NAME', summary: 'rename this room', run: rename },
  leave: { args: '', summary: 'leave this room', run: leave },
  files: { args: '', summary: 'files of this room', run: files },
  upload: { args: 'FILE', summary: 'upload a local file to this room', run: upload },
  download: { args: 'NAME [TO]', summary: 'download a file of this room', run: download },
  search: {
    args: 'TEXT',
    summary: 'search messages in all rooms',
    run: (screen, rest) => searchMessages(screen, requireText(rest, 'what to look for')),
  },
  help: { args: '', summary: 'keys and commands', run: (screen) => void (screen.mode = { kind: 'help', top: 0 }) },
  quit: { args: '', summary: 'quit the chat', run: (screen) => screen.quit() },
}

export function runSlashCommand(screen: ScreenState, text: string): void {
  const [, name = '', rest = ''] = /^\/([a-z]*)\s*([\s\S]*)$/.exec(text) ?? []
  const slash = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined
  if (!slash)
    return screen.notify(`There is no /${name}: F1 lists the commands, and // starts a message with a slash.`, 'error')
  screen.composer.set('')
  screen.runTask(async () => slash.run(screen, rest.trim()))
}
