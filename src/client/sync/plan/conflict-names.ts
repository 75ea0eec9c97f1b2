import { byteLength } from '../../../base/text.ts'
import { MAX_SEGMENT_BYTES } from '../../files/path-rules.ts'

const DEVICE_NAME_MAX = 40

/** A device name for conflict copies: no separators, limited length. */
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
  /** 1 for the first try; later tries append the number. */
  attempt: number
}

/** The name of a conflict copy, derived from its content, so that repeating it makes no second copy. */
export function conflictName({ name, device, date, sha256, attempt }: Copy): string {
  const dot = sha256 === undefined ? -1 : name.lastIndexOf('.')
  const stem = dot > 0 ? name.slice(0, dot) : name
  const extension = dot > 0 ? name.slice(dot) : ''
  const hash = sha256 === undefined ? '' : ` ${sha256.slice(0, 8)}`
  const count = attempt === 1 ? '' : ` ${attempt}`
  const mark = ` (conflict ${device} ${date}${hash}${count})${extension}`
  const room = MAX_SEGMENT_BYTES - byteLength(mark)
  // A name that is one long extension counts as a stem.
  if (room < 4) return conflictName({ name: name.replaceAll('.', '_'), device, date, sha256, attempt })
  const points = Array.from(stem)
  while (byteLength(points.join('')) > room) points.pop()
  return `${points.join('')}${mark}`
}

export const isCopyName = (path: string): boolean =>
  /\(conflict [^/]+ \d{4}-\d\d-\d\d [0-9a-f]{8}( \d+)?\)[^/]*$/.test(path)
