import { isBase64 } from '../../base/base64.ts'
import { parseSize } from '../../base/sizes.ts'
import { isWritable } from '../../contract/tables.ts'
import { assertPasswordHash, normalName, readDisplayName, readUsername } from '../accounts/accounts.ts'
import { assertContent, readRoomName } from '../chat/chat.ts'
import { assertApp, readComponent } from '../desktop/desktop.ts'
import { nameKey, ownSegments } from '../files/files.ts'
import { isOption, options, type Values } from '../instance/instance.ts'
import { refuseRow } from '../sync/sync.ts'
import { schemaProblems } from './schema-problems.ts'
import { clause, nameOf as nameOfPath, objection, objectionOf, type Path, type Problem } from './problems.ts'
import type { SeedApp, SeedFile, SeedRoom, SeedRow, SeedUser } from './seed-schema.ts'

/** A part of a seed with its path. */
export interface Placed<T> {
  path: Path
  value: T
}

/** The valid parts of a seed. */
export interface ReadSeed {
  settings: Partial<Values>
  apps: Placed<SeedApp>[]
  users: Placed<SeedUser>[]
  rooms: Placed<SeedRoom>[]
  /** User names in the seed, also of entries with invalid parts. */
  names: ReadonlySet<string>
}

type Note = (path: Path, message: string | undefined) => void

/** Parses a document as a seed, and adds to `problems` every error that can be found without the server or files. */
export function readSeed(document: unknown, problems: Problem[]): ReadSeed {
  const found = schemaProblems(document ?? {})
  problems.push(...found)
  const note: Note = (path, message) => {
    if (message !== undefined) problems.push({ path, message })
  }
  const seed = validParts(document, found)
  seed.settings = readSettings(document, note)
  checkApps(seed, note)
  checkUsers(seed, note)
  checkRooms(seed, note)
  return seed
}

/** Without these parts the rest of a user cannot be judged. */
const NEEDED = new Set<unknown>(['username', 'password', 'password_file', 'password_hash', 'generate'])

/** The parts of a document without schema errors, users without their broken parts; the others cannot be checked further. */
function validParts(document: unknown, found: readonly Problem[]): ReadSeed {
  const isApart = ([list, , part]: Path): boolean => list === 'users' && part !== undefined && !NEEDED.has(part)
  const broken = new Set(found.map(({ path }) => path.slice(0, isApart(path) ? 3 : 2).join('/')))
  const sound = <T>({ path, value }: Placed<T>): Placed<T> => {
    const parts = Object.entries(value as object).filter(([part]) => !broken.has([...path, part].join('/')))
    return { path, value: Object.fromEntries(parts) as T }
  }
  const whole = (broken.has('') ? {} : (document ?? {})) as Record<string, unknown>
  const list = <T>(name: string): Placed<T>[] =>
    Array.isArray(whole[name]) && !broken.has(name)
      ? (whole[name] as T[])
          .map((value, index) => ({ path: [name, index], value }))
          .filter(({ path }) => !broken.has(path.join('/')))
          .map(sound)
      : []
  const users = Array.isArray(whole['users']) ? (whole['users'] as { username?: unknown }[]) : []
  return {
    settings: {},
    apps: list('apps'),
    users: list('users'),
    rooms: list('rooms'),
    names: new Set(users.flatMap((user) => (typeof user?.username === 'string' ? normalName(user.username) : []))),
  }
}

/** Reports every item with the name of an earlier one. */
function once<T>(things: readonly Placed<T>[], field: string, nameOf: (thing: T) => string, note: Note): void {
  const seen = new Map<string, Path>()
  for (const { path, value } of things) {
    const name = nameOf(value)
    const first = seen.get(name)
    if (first) note([...path, field], `is that of ${nameOfPath(first.slice(-2))} too`)
    else seen.set(name, path)
  }
}

/** Reports the violation of a rule at the field it names. */
function noteField(path: Path, rule: () => unknown, note: Note): void {
  const { field, message } = objectionOf(rule) ?? {}
  note(field === undefined ? path : [...path, field === 'component_id' ? 'id' : field], message)
}

const placed = <T>(things: readonly T[], path: Path): Placed<T>[] =>
  things.map((value, index) => ({ path: [...path, index], value }))

const isGiven = (value: unknown): value is string | number | boolean | string[] =>
  ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value)

/** The settings, parsed as `svc config set` does. */
function readSettings(document: unknown, note: Note): Partial<Values> {
  const { settings } = (document ?? {}) as { settings?: unknown }
  const values: Record<string, unknown> = {}
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return values
  for (const [name, given] of Object.entries(settings)) {
    const path = ['settings', name]
    if (!isOption(name)) note(path, 'is no setting: svc config list shows them all')
    else if (!options[name].live) note(path, 'is read when the server starts: it belongs into config.json')
    else if (isGiven(given)) {
      try {
        values[name] = options[name].kind.parse(Array.isArray(given) ? given.join(',') : String(given))
      } catch (error) {
        note(path, (error as Error).message)
      }
    }
  }
  return values
}

function checkApps({ apps }: ReadSeed, note: Note): void {
  once(apps, 'slug', ({ slug }) => slug, note)
  for (const { path, value } of apps) {
    // Whether its URL is allowed depends on a setting of the server.
    const { app_path: _, ...app } = value
    noteField(path, () => assertApp(app, []), note)
  }
}

/** Bytes of a quota, -1 for unlimited, null for the default; undefined if invalid. */
export function quotaBytes(given: string | number): number | null | undefined {
  if (given === 'none') return -1
  if (given === 'default') return null
  return typeof given === 'number' ? given : parseSize(given)
}

const PASSWORDS = ['password', 'password_file', 'password_hash', 'generate'] as const

function checkUsers({ users }: ReadSeed, note: Note): void {
  once(users, 'username', ({ username }) => normalName(username), note)
  for (const user of users) checkUser(user, note)
}

function checkUser({ path, value: user }: Placed<SeedUser>, note: Note): void {
  const { username, display_name, quota, password_hash } = user
  note(
    [...path, 'username'],
    objection(() => readUsername(username)),
  )
  if (display_name !== undefined)
    note(
      [...path, 'display_name'],
      objection(() => readDisplayName(display_name)),
    )
  if (quota !== undefined && quotaBytes(quota) === undefined)
    note([...path, 'quota'], `must be a size such as 10GB, none or default, not "${quota}"`)
  const ways = PASSWORDS.filter((way) => user[way] !== undefined)
  if (ways.length > 1) note([...path, ways[1]!], `cannot be combined with ${ways[0]}: give the password in one way`)
  if (password_hash !== undefined)
    note(
      [...path, 'password_hash'],
      objection(() => assertPasswordHash(password_hash)),
    )
  for (const [table, rows] of Object.entries(user.rows ?? {})) checkRows(table, rows, [...path, 'rows', table], note)
  checkComponents(user, [...path, 'components'], note)
  checkFiles(user.files ?? [], [...path, 'files'], note)
}

function checkRows(table: string, rows: SeedRow[], path: Path, note: Note): void {
  once(placed(rows, path), 'key', ({ key }) => key, note)
  if (!isWritable(table)) return
  for (const [index, { key: _, ...columns }] of rows.entries()) {
    const refusal = refuseRow(table, 'new', columns)
    if (!refusal) continue
    const [column = '', ...rest] = refusal.error.split(' ')
    const known = Object.hasOwn(columns, column)
    note(known ? [...path, index, column] : [...path, index], clause(known ? rest.join(' ') : refusal.error))
  }
}

function checkComponents({ components = [] }: SeedUser, path: Path, note: Note): void {
  once(placed(components, path), 'id', ({ id }) => id, note)
  for (const [index, { id, type, code, from, metadata = {} }] of components.entries()) {
    if ((code === undefined) === (from === undefined)) note([...path, index], 'needs one of code and from')
    // The code of a file is checked when the file is read.
    const component = { component_id: id, component_type: type, code: code ?? '', metadata }
    noteField([...path, index], () => readComponent(component), note)
  }
}

const CONTENTS = ['text', 'base64', 'from', 'folder'] as const

/** Seconds since the epoch; undefined if invalid. */
export function fileTime(given: string | number): number | undefined {
  if (typeof given === 'number') return given
  const ms = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(given) ? Date.parse(given) : NaN
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1_000)
}

function checkFiles(files: SeedFile[], path: Path, note: Note): void {
  once(placed(files, path), 'path', (file) => nameKey(file.path), note)
  for (const [index, file] of files.entries()) {
    const here = [...path, index]
    note(
      [...here, 'path'],
      objection(() => ownSegments(file.path)),
    )
    const ways = CONTENTS.filter((way) => file[way] !== undefined)
    if (ways.length !== 1) note(here, 'needs one of text, base64, from and folder')
    if (file.base64 !== undefined && !isBase64(file.base64.replace(/\s/g, '')))
      note([...here, 'base64'], 'is not base64')
    if (file.mtime !== undefined && fileTime(file.mtime) === undefined)
      note([...here, 'mtime'], `must be a time such as 2026-11-21T09:30:00Z, not "${file.mtime}"`)
    if (file.mtime !== undefined && file.folder === true) note([...here, 'mtime'], 'is nothing that a folder keeps')
  }
}

/** Members of a room, the creator first, without duplicates. */
export const peopleOf = ({ creator, members = [] }: SeedRoom): string[] => [
  ...new Set([creator, ...members].map(normalName)),
]

/** Identifies a room among those of its creator. */
export const roomKey = (room: SeedRoom): string =>
  room.type === 'dm' ? `dm:${peopleOf(room).slice(1).join()}` : `channel:${room.name}`

function checkRooms({ rooms }: ReadSeed, note: Note): void {
  once(rooms, 'name', (room) => `${normalName(room.creator)} ${roomKey(room)}`, note)
  for (const { path, value: room } of rooms) {
    const people = peopleOf(room)
    note(
      [...path, 'name'],
      objection(() => readRoomName(room.name)),
    )
    if (room.type === 'dm' && people.length !== 2)
      note([...path, 'members'], 'must name exactly one other person, because the room is a dm')
    const messages = placed(room.messages ?? [], [...path, 'messages'])
    once(messages, 'id', ({ id }) => id, note)
    const said = new Set<string>()
    for (const { path: here, value: message } of messages) {
      if (!people.includes(normalName(message.from))) note([...here, 'from'], `${message.from} is not in this room`)
      note(
        [...here, 'text'],
        objection(() => assertContent(message.text)),
      )
      if (message.reply_to !== undefined && !said.has(message.reply_to))
        note([...here, 'reply_to'], `there is no message "${message.reply_to}" above`)
      said.add(message.id)
    }
  }
}
