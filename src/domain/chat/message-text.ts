import { fitsBytes, printable } from '../../base/text.ts'
import { badRequest } from '../../contract/errors.ts'

const CONTENT_BYTES = 16_384
const EMOJI_BYTES = 32
const QUERY_LENGTH = 200

/** Refuses a message longer than 16 KiB of UTF-8; the contract requires it to be non-empty. */
export function assertContent(content: string): void {
  if (!fitsBytes(content, CONTENT_BYTES)) throw badRequest('content', `must be at most ${CONTENT_BYTES} bytes long`)
}

export function readRoomName(text: string): string {
  const name = text.trim()
  if (name === '' || printable(name) !== name) throw badRequest('name', 'must be a text on one line')
  return name
}

let segmenter: Intl.Segmenter | undefined

/** Grapheme clusters (Unicode TR 29). The segmenter is created on first use: loading its tables takes time. */
function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Refuses anything but one visible character of at most 32 bytes. */
export function assertEmoji(emoji: string): void {
  const isOne = graphemesOf(emoji).length === 1 && /[^\p{C}\p{Z}\p{M}]/u.test(emoji)
  if (!isOne || !fitsBytes(emoji, EMOJI_BYTES))
    throw badRequest('emoji', `must be one character of at most ${EMOJI_BYTES} bytes`)
}

/**
 * Case folding for all of Unicode: lower case first, for letters without capitals, then upper case, which does not depend
 * on context (Unicode 3.13: "ß" is "SS", "ς" is "Σ").
 */
export const fold = (text: string): string => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')

/** A LIKE pattern with `\` as its escape character that matches folded texts containsPattern `query`. */
export function containsPattern(query: string): string {
  if ([...query].length > QUERY_LENGTH) throw badRequest('query', `must be at most ${QUERY_LENGTH} characters long`)
  return `%${fold(query).replace(/[\\%_]/g, '\\$&')}%`
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** Parses an RFC 3339 timestamp. Returns epoch ms. */
export function readTimestamp(name: string, text: string): number {
  const time = TIMESTAMP.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(time)) throw badRequest(name, 'must be a time such as 2026-01-01T00:00:00.000Z')
  return time
}
