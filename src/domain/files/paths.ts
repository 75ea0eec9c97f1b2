import { fitsBytes, isSound } from '../../base/text.ts'
import { fault, type Fault } from '../../contract/errors.ts'

/** A parsed path; paths are parsed only once. The root is the empty list. */
export type Segments = readonly string[]

const MAX_BYTES = 4_096
const MAX_SEGMENTS = 64
const MAX_SEGMENT_BYTES = 255

// C0, DEL, C1 and the backslash, which other systems take for a separator.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\\]/

const bad = (text: string): Fault => fault('bad_path', { text })

/** Key that identifies a name within a folder: Unicode normal form C. Names are stored as given. */
export const nameKey = (name: string): string => name.normalize('NFC')

/** The virtual root folder that contains the folders of chat rooms. */
export const TEAMCHAT = 'Teamchat'
/** Its id in listings; all other items have the id of their row. */
export const TEAMCHAT_ID = 0

/** Whether a name in the root is reserved for the folder of the chat rooms. */
export const isReserved = (name: string | undefined): boolean =>
  name !== undefined && nameKey(name).toLowerCase() === TEAMCHAT.toLowerCase()

/** Parses a path. Refuses ambiguous paths and never corrects them: fault `bad_path`. */
export function segmentsOf(path: string): Segments {
  if (!path.startsWith('/')) throw bad('The path must start with "/".')
  if (!isSound(path)) throw bad('The path holds a character that cannot be stored.')
  if (!fitsBytes(path, MAX_BYTES)) throw bad(`The path is longer than ${MAX_BYTES} bytes.`)
  if (path === '/') return []
  const segments = path.slice(1).split('/')
  if (segments.length > MAX_SEGMENTS) throw bad(`The path has more than ${MAX_SEGMENTS} parts.`)
  for (const segment of segments) {
    if (segment === '') throw bad('The path has an empty part.')
    if (segment === '.' || segment === '..') throw bad('The path must not hold "." or "..".')
    if (FORBIDDEN.test(segment)) throw bad('The path holds a control character or a backslash.')
    if (!fitsBytes(segment, MAX_SEGMENT_BYTES))
      throw bad(`A name in the path is longer than ${MAX_SEGMENT_BYTES} bytes.`)
  }
  return segments
}

/** Whether a path is in the files of a chat room, which others see. Fault `bad_path`. */
export const isOfRooms = (path: string): boolean => isReserved(segmentsOf(path)[0])

export function ownSegments(path: string): Segments {
  const segments = segmentsOf(path)
  if (segments.length === 0) throw bad('The path names the root folder.')
  if (isReserved(segments[0]!)) throw bad('"/Teamchat" is reserved for the files of chat rooms.')
  return segments
}

export const pathOf = (segments: Segments): string => `/${segments.join('/')}`

/** Fault `bad_path` where a tree of `depth` levels and a longest relative path of `bytes` exceeds the path limits. */
export function assertReach(segments: Segments, { depth, bytes }: { depth: number; bytes: number }): void {
  if (segments.length + depth > MAX_SEGMENTS) throw bad(`A path below would have more than ${MAX_SEGMENTS} parts.`)
  if (!fitsBytes(pathOf(segments), MAX_BYTES - bytes))
    throw bad(`A path below would be longer than ${MAX_BYTES} bytes.`)
}
