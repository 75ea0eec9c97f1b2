import { isWritable, type TableName } from '../../contract/tables.ts'
import { ownSegments } from '../files/files.ts'
import { BadArchive } from './bad-archive.ts'

// The archive of an account is a tar file with these entries:
//
//     README.txt                      explains the archive
//     account.json                    the account, and when the archive was made
//     rows/<table>.jsonl              one row per line
//     components.jsonl                all versions of all components
//     profiles.jsonl                  profiles of components
//     apps.jsonl                      custom apps
//     assistant/conversations.jsonl   conversations with the assistant
//     assistant/messages.jsonl        their messages, oldest first
//     assistant/changes.jsonl         changes by the assistant, not imported
//     files/…                         files and folders
//     rooms/<n>/room.json             a chat room
//     rooms/<n>/messages.jsonl        its messages, oldest first
//     rooms/<n>/files/…               its files
//     manifest.json                   size and SHA-256 of every entry above

export const FORMAT = 'svc-account'
export const FORMAT_VERSION = 1

export const names = {
  readme: 'README.txt',
  account: 'account.json',
  components: 'components.jsonl',
  profiles: 'profiles.jsonl',
  apps: 'apps.jsonl',
  conversations: 'assistant/conversations.jsonl',
  conversation_messages: 'assistant/messages.jsonl',
  assistant_changes: 'assistant/changes.jsonl',
  manifest: 'manifest.json',
} as const

export const rowsName = (table: string): string => `rows/${table}.jsonl`
export const fileName = (path: string): string => `files${path}`
export const roomName = (room: number): string => `rooms/${room}/room.json`
export const messagesName = (room: number): string => `rooms/${room}/messages.jsonl`
export const roomFileName = (room: number, path: string): string => `rooms/${room}/files${path}`

/** The meaning of an entry. */
export type Part =
  | { kind: keyof typeof names }
  | { kind: 'rows'; table: TableName }
  | { kind: 'file' | 'folder'; path: string }
  | { kind: 'room' | 'messages'; room: number }
  | { kind: 'room file' | 'room folder'; room: number; path: string }

const singles = new Map<string, Part>(
  (Object.keys(names) as (keyof typeof names)[]).map((kind) => [names[kind], { kind }]),
)

const MAX_ROOMS = 100_000

/** Parses the name and type of an entry. Throws `BadArchive` for entries outside of the layout. */
export function partOf(name: string, type: string): Part {
  const isFolder = type === '5'
  if (type !== '0' && !isFolder) throw new BadArchive(`"${name}" is neither a file nor a folder`)
  const part = isFolder ? folderPart(name.replace(/\/$/, '')) : filePart(name)
  if (!part) throw new BadArchive(`"${name}" has no place in the archive of an account`)
  return part
}

function filePart(name: string): Part | undefined {
  const single = singles.get(name)
  if (single) return single
  const [, table] = /^rows\/([a-z_]+)\.jsonl$/.exec(name) ?? []
  if (table !== undefined) {
    if (!isWritable(table)) throw new BadArchive(`this version of svc knows no table "${table}"`)
    return { kind: 'rows', table }
  }
  if (name.startsWith('files/')) return { kind: 'file', path: pathIn(name, name.slice('files'.length)) }
  const { room, rest } = roomIn(name)
  if (room === undefined) return undefined
  if (rest === 'room.json') return { kind: 'room', room }
  if (rest === 'messages.jsonl') return { kind: 'messages', room }
  return rest.startsWith('files/')
    ? { kind: 'room file', room, path: pathIn(name, rest.slice('files'.length)) }
    : undefined
}

function folderPart(name: string): Part | undefined {
  if (name.startsWith('files/')) return { kind: 'folder', path: pathIn(name, name.slice('files'.length)) }
  const { room, rest } = roomIn(name)
  if (room === undefined || !rest.startsWith('files/')) return undefined
  return { kind: 'room folder', room, path: pathIn(name, rest.slice('files'.length)) }
}

function roomIn(name: string): { room: number | undefined; rest: string } {
  const [, number, rest = ''] = /^rooms\/([1-9]\d{0,5})\/(.+)$/s.exec(name) ?? []
  const room = number === undefined ? undefined : Number(number)
  return { room: room !== undefined && room <= MAX_ROOMS ? room : undefined, rest }
}

/** A path that is valid on the server and does not leave the folder. */
function pathIn(name: string, path: string): string {
  try {
    ownSegments(path)
  } catch (cause) {
    throw new BadArchive(`"${name}" names no file that an account can have`, { cause })
  }
  return path
}
