import { printable } from '../../../base/text.ts'
import { isMentioned } from '../../../client/chat/chat-state.ts'
import type { Span } from './spans.ts'

// Each alternative ends at the next mark of its own kind, which keeps matching linear.
const MARKS =
  /`(?<code>[^`]+)`|\*\*(?<bold>[^*]+)\*\*|(?<![\p{L}\p{N}_])_(?<italic>[^_\s][^_]*)_(?![\p{L}\p{N}_])|(?<link>https?:\/\/[^\s<>]+)|(?<mention>(?<![\p{L}\p{N}_])@[\p{L}\p{N}_][\p{L}\p{N}_.-]*)/gu

const CODE = 'cyan'

/** Most combining marks per character; more would cover the lines around it. */
const EXCESS_MARKS = /(\p{M}{6})\p{M}+/gu

export const sanitize = (text: string): string => printable(text).replace(EXCESS_MARKS, '$1')

/** Converts a message to lines that are safe to print, with code, emphasis, links and mentions styled. */
export function parseMarkup(content: string, me: string | undefined): Span[][] {
  let isCode = false
  return content
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((raw) => {
      const text = sanitize(raw)
      if (/^\s*```/.test(text)) {
        isCode = !isCode
        return []
      }
      return [isCode ? [{ text: `▏ ${text}`, color: CODE }] : inline(text, me)]
    })
}

function inline(text: string, me: string | undefined): Span[] {
  const spans: Span[] = []
  let at = 0
  for (const match of text.matchAll(MARKS)) {
    if (match.index > at) spans.push({ text: text.slice(at, match.index) })
    spans.push(spanOf(match, me))
    at = match.index + match[0].length
  }
  if (at < text.length || spans.length === 0) spans.push({ text: text.slice(at) })
  return spans
}

function spanOf({ 0: whole, groups = {} }: RegExpMatchArray, me: string | undefined): Span {
  if (groups['code'] !== undefined) return { text: groups['code'], color: CODE }
  if (groups['bold'] !== undefined) return { text: groups['bold'], bold: true }
  if (groups['italic'] !== undefined) return { text: groups['italic'], italic: true }
  if (groups['link'] !== undefined) return { text: whole, underline: true }
  const isMe = me !== undefined && isMentioned(whole, me)
  return isMe ? { text: whole, color: 'yellow', bold: true, inverse: true } : { text: whole, bold: true }
}
