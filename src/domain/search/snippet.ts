import { MAX_WORDS } from './search-terms.ts'

const BEFORE = 40
const LENGTH = 160

/** The part of a text around the first word of a query that it contains as written; otherwise its beginning. One line. */
export function snippetOf(text: string, query: string): string {
  const lower = text.toLowerCase()
  const words =
    query
      .slice(0, 1_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu)
      ?.slice(0, MAX_WORDS) ?? []
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = places.length > 0 ? Math.min(...places) : 0
  const start = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1
  const from = start > first || start === 0 ? Math.max(0, first - BEFORE) : start
  const part = text
    .slice(from, from + LENGTH)
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim()
  return `${from > 0 ? '…' : ''}${part}${from + LENGTH < text.length ? '…' : ''}`
}
