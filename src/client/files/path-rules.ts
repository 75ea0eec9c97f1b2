import { byteLength } from '../../base/text.ts'

export const MAX_BYTES = 4_096

export const MAX_SEGMENTS = 64

export const MAX_SEGMENT_BYTES = 255

// C0, DEL, C1 and the backslash: the server accepts them in no name, and they would break a line or leave a folder.
//
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\\]/

/** Windows device names, with or without an extension; superscript digits count (learn.microsoft.com, Naming Files). */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i

const NOT_ON_WINDOWS = /[<>:"|?*]|[. ]$/

/** Why the server rejects a name, or undefined if it accepts it. */
export const nameProblem = (name: string): 'bad_name' | undefined =>
  name === '' ||
  name === '.' ||
  name === '..' ||
  name.includes('/') ||
  FORBIDDEN.test(name) ||
  !name.isWellFormed() ||
  isTooLong(name, MAX_SEGMENT_BYTES)
    ? 'bad_name'
    : undefined

/** A UTF-16 code unit takes at most three bytes of UTF-8. */
export const isTooLong = (text: string, bytes: number): boolean => text.length * 3 > bytes && byteLength(text) > bytes

/** Whether a path from the server may be joined to a local root: a hostile server could name files outside. */
export function isSafePath(path: unknown): path is string {
  if (typeof path !== 'string' || !path.startsWith('/') || path === '/') return false
  const segments = path.slice(1).split('/')
  return segments.length <= MAX_SEGMENTS && !isTooLong(path, MAX_BYTES) && segments.every((name) => !nameProblem(name))
}

/** Why a name from the server cannot exist on this machine, or undefined if it can. */
export function unrepresentable(path: string, platform: NodeJS.Platform = process.platform): 'not_here' | undefined {
  if (platform !== 'win32') return undefined
  const bad = path
    .slice(1)
    .split('/')
    .some((name) => NOT_ON_WINDOWS.test(name) || DEVICE.test(name.split('.', 1)[0]!.trimEnd()))
  return bad ? 'not_here' : undefined
}
