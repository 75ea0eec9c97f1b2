import { fitsBytes, printable } from '../../base/text.ts'
import { badRequest } from '../../contract/errors.ts'

const CONTENT_BYTES = 16_384
const EMOJI_BYTES = 32
const QUERY_LENGTH = 200

/** Refuses a message longer than 16 KiB of UTF-8; that it has a text at all is declared. */
export function assertContent(content: string): void {
  if (!fitsBytes(content, CONTENT_BYTES)) throw badRequest('content', `must be at most ${CONTENT_BYTES} bytes long`)
}

/** A room's name without the blanks around it. Refuses what would not stand on one line. */
export function readRoomName(text: string): string {
  const name = text.trim()
  if (name === '' || printable(name) !== name) throw badRequest('name', 'must be a text on one line')
  return name
}

let segmenter: Intl.Segmenter | undefined

/** Characters as a reader counts them (Unicode TR 29). The segmenter is made when it is needed: its tables take a while to load. */
function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Refuses everything but one visible character, of at most 32 bytes. */
export function assertEmoji(emoji: string): void {
  const isOne = graphemesOf(emoji).length === 1 && /[^\p{C}\p{Z}\p{M}]/u.test(emoji)
  if (!isOne || !fitsBytes(emoji, EMOJI_BYTES))
    throw badRequest('emoji', `must be one character of at most ${EMOJI_BYTES} bytes`)
}

/**
 * A text without the difference between upper and lower case, in all of Unicode: lower case first, for the letters that
 * have no capitals of their own, then upper case, which knows no context (Unicode 3.13, "ß" is "SS", "ς" is "Σ").
 */
export const fold = (text: string): string => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')

/** A LIKE pattern, with `\` as its escape, for folded texts that contain this one. */
export function containing(query: string): string {
  if ([...query].length > QUERY_LENGTH) throw badRequest('query', `must be at most ${QUERY_LENGTH} characters long`)
  return `%${fold(query).replace(/[\\%_]/g, '\\$&')}%`
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** A moment of the wire in milliseconds. */
export function readMoment(name: string, text: string): number {
  const moment = MOMENT.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(moment)) throw badRequest(name, 'must be a time such as 2026-01-01T00:00:00.000Z')
  return moment
}
