import { sep } from 'node:path'
import { byteLength } from '../../base/text.ts'
import { parentOf, ROOT, type SkipCode } from './tree.ts'

/** Where the engine keeps its own things: in the root of the synchronised folder, on neither side part of a tree. */
export const OWN_FOLDER = '.svc'

/** How names begin under which things stand for a moment while they are moved; on neither side part of a tree. */
export const TEMPORARY = '.svc-tmp-'

const MAX_BYTES = 4_096
const MAX_SEGMENTS = 64
const MAX_SEGMENT_BYTES = 255

// C0, DEL, C1 and the backslash: what the server takes in no name, and what would break out of a line or a folder here.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\\]/

/** Devices of Windows, with or without an extension (learn.microsoft.com, Naming Files); superscript digits count as digits there. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i
const NOT_ON_WINDOWS = /[<>:"|?*]|[. ]$/

/** Why the server would not take a name, or undefined when it does. */
export const nameTrouble = (name: string): SkipCode | undefined =>
  name === '' ||
  name === '.' ||
  name === '..' ||
  name.includes('/') ||
  FORBIDDEN.test(name) ||
  !name.isWellFormed() ||
  isTooLong(name, MAX_SEGMENT_BYTES)
    ? 'bad_name'
    : undefined

/** Why the server would not take a local path whose names are sound, or undefined when it does. */
export function pathTrouble(path: string): SkipCode | undefined {
  const isTop = parentOf(path) === ROOT
  if (isTop && (resemblesOwn(path) || path.normalize('NFC').toLowerCase() === '/teamchat')) return 'reserved'
  return isTooLong(path, MAX_BYTES) || path.split('/').length - 1 > MAX_SEGMENTS ? 'too_deep' : undefined
}

/** A UTF-16 code unit makes at most three bytes of UTF-8. */
const isTooLong = (text: string, bytes: number): boolean => text.length * 3 > bytes && byteLength(text) > bytes

/**
 * Whether a path from a server is one that may be joined to the root of a folder. Every path that comes over the wire
 * goes through here: a broken or hostile server could otherwise name files outside.
 */
export function isSafePath(path: unknown): path is string {
  if (typeof path !== 'string' || !path.startsWith('/') || path === '/') return false
  const segments = path.slice(1).split('/')
  return segments.length <= MAX_SEGMENTS && !isTooLong(path, MAX_BYTES) && segments.every((name) => !nameTrouble(name))
}

/** Whether a path lies in the engine's own folder. */
export const isOwn = (path: string): boolean => path.slice(1).split('/', 1)[0] === OWN_FOLDER

/** Whether some file system takes the path's first name for the engine's own folder: other case, invisible characters, trailing dots (as in CVE-2014-9390). */
export function resemblesOwn(path: string): boolean {
  const name = path.slice(1).split('/', 1)[0]!
  const plain = name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
  return plain === OWN_FOLDER || /^svc~\d$/.test(plain)
}

/** Why a name from the server cannot exist on this machine, or undefined when it can. */
export function unrepresentable(path: string, platform: NodeJS.Platform = process.platform): SkipCode | undefined {
  if (platform !== 'win32') return undefined
  const bad = path
    .slice(1)
    .split('/')
    .some((name) => NOT_ON_WINDOWS.test(name) || DEVICE.test(name.split('.', 1)[0]!.trimEnd()))
  return bad ? 'not_here' : undefined
}

/** The place of a path of the tree on this machine. */
export const placeOf = (root: string, path: string): string =>
  path === ROOT ? root : root + (sep === '/' ? path : path.replaceAll('/', sep))

/** Every folder a path lies in, the root's child first. */
export function foldersOver(path: string): string[] {
  const folders: string[] = []
  for (let at = parentOf(path); at !== '/'; at = parentOf(at)) folders.unshift(at)
  return folders
}

const DEVICE_NAME_MAX = 40

/** A device's name as it stands in the name of a conflict copy: no separators, not too long. */
export const deviceLabel = (name: string): string =>
  Array.from(name.normalize('NFC').replace(/[^\p{L}\p{N} ._-]+/gu, '-'))
    .slice(0, DEVICE_NAME_MAX)
    .join('')
    .replace(/^[-. ]+|[-. ]+$/g, '') || 'device'

export interface Copy {
  name: string
  device: string
  /** `YYYY-MM-DD` */
  date: string
  /** Missing for folders. */
  sha256?: string | undefined
  /** 1 for the first try; further ones are told apart by it. */
  attempt: number
}

/** The name under which a conflicting copy is kept: made from its content, so that doing it again makes no second one. */
export function conflictName({ name, device, date, sha256, attempt }: Copy): string {
  const dot = sha256 === undefined ? -1 : name.lastIndexOf('.')
  const stem = dot > 0 ? name.slice(0, dot) : name
  const extension = dot > 0 ? name.slice(dot) : ''
  const hash = sha256 === undefined ? '' : ` ${sha256.slice(0, 8)}`
  const count = attempt === 1 ? '' : ` ${attempt}`
  const mark = ` (conflict ${device} ${date}${hash}${count})${extension}`
  const room = MAX_SEGMENT_BYTES - byteLength(mark)
  // A name that is one long extension leaves no room: then all of it is stem.
  if (room < 4) return conflictName({ name: name.replaceAll('.', '_'), device, date, sha256, attempt })
  const points = Array.from(stem)
  while (byteLength(points.join('')) > room) points.pop()
  return `${points.join('')}${mark}`
}

/** Whether a file has the name of a conflict copy. */
export const isCopyName = (path: string): boolean =>
  /\(conflict [^/]+ \d{4}-\d\d-\d\d [0-9a-f]{8}( \d+)?\)[^/]*$/.test(path)
