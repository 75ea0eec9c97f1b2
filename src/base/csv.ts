/** One field. A quoted empty text is an empty text, an unquoted one is null. */
export type Field = string | null

export interface Record {
  /** Line on which it begins, counted from 1. */
  line: number
  fields: Field[]
}

/** The text is not CSV; the message says where and why. */
export class BadCsv extends Error {
  override name = 'BadCsv'
}

const DELIMITERS = [',', ';', '\t'] as const

/**
 * Reads CSV (RFC 4180): fields in quotes may hold delimiters, line breaks and doubled quotes; lines end with LF or CRLF.
 * The delimiter is the one of comma, semicolon and tab that the first line holds most often. Empty lines are left out.
 */
export function parseCsv(text: string): Record[] {
  const source = text.replace(/^\ufeff/, '')
  const delimiter = delimiterOf(source)
  const records: Record[] = []
  let line = 1
  let position = 0
  while (position < source.length) {
    const record: Record = { line, fields: [] }
    for (;;) {
      const field = source[position] === '"' ? quoted(source, position, line) : plain(source, position, delimiter)
      record.fields.push(field.value)
      line += field.breaks
      position = field.end
      if (source[position] !== delimiter) break
      position += 1
    }
    const end = lineBreak(source, position)
    if (end === 0 && position < source.length) {
      throw new BadCsv(
        `Line ${line}: after a closing quote comes a delimiter or the end of the line, not "${source[position]}".`,
      )
    }
    position += end
    line += 1
    if (record.fields.length > 1 || record.fields[0] !== null) records.push(record)
  }
  return records
}

/** Writes CSV (RFC 4180, but with LF, which every reader takes and line tools need); null becomes an empty field, an empty text two quotes. */
export const formatCsv = (rows: readonly (readonly Field[])[]): string =>
  rows.map((fields) => `${fields.map(formatField).join(',')}\n`).join('')

/** What spreadsheets run as a formula, with any marks of `guardFormula` before it (CWE-1236). */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u

/** The same in a text that is divided at semicolons, tabs and line breaks, where the comma separates no values (German Excel). */
const INNER = /([;\t\r\n])(?=["']*[=+\-@＝＋－＠])/gu
const GUARDED = /([;\t\r\n])'(?=["']*[=+\-@＝＋－＠])/gu

/** Marks a text that a spreadsheet would run as a formula with a `'` where one can begin. */
export function guardFormula(text: string): string {
  const inner = text.replace(INNER, "$1'")
  return FORMULA.test(inner) ? `'${inner}` : inner
}

/** Removes the marks of `guardFormula`. */
export function unguardFormula(text: string): string {
  const inner = text.replace(GUARDED, '$1')
  return inner.startsWith("'") && FORMULA.test(inner) ? inner.slice(1) : inner
}

function formatField(field: Field): string {
  if (field === null) return ''
  return field === '' || /[",;\t\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}

function delimiterOf(source: string): string {
  const first = /^[^\r\n]*/.exec(source)![0].replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => first.split(delimiter).length
  return DELIMITERS.reduce((best, other) => (count(other) > count(best) ? other : best))
}

interface Piece {
  value: Field
  /** Position after it. */
  end: number
  /** Line breaks within it. */
  breaks: number
}

function plain(source: string, start: number, delimiter: string): Piece {
  let end = start
  while (end < source.length && source[end] !== delimiter && lineBreak(source, end) === 0) end += 1
  return { value: end === start ? null : source.slice(start, end), end, breaks: 0 }
}

function quoted(source: string, start: number, line: number): Piece {
  let end = start + 1
  for (;;) {
    end = source.indexOf('"', end)
    if (end === -1) throw new BadCsv(`Line ${line}: a quote is opened here and never closed.`)
    if (source[end + 1] !== '"') break
    end += 2
  }
  const inside = source.slice(start + 1, end)
  return { value: inside.replaceAll('""', '"'), end: end + 1, breaks: inside.split('\n').length - 1 }
}

/** Length of the line break at a position, 0 for none. */
function lineBreak(source: string, at: number): number {
  if (source[at] === '\n') return 1
  return source[at] === '\r' && source[at + 1] === '\n' ? 2 : 0
}
