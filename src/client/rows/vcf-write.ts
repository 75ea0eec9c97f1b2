import ICAL from 'ical.js'
import type { Row } from './row-values.ts'
import { vcardLines } from './vcf-lines.ts'
import { reachOf, readCard } from './vcf-read.ts'

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const escaped = (text: string): string =>
  text.replaceAll(/[\\;,]/g, String.raw`\$&`).replaceAll(/\r\n|\r|\n/g, String.raw`\n`)

const folded = (line: string): string => ICAL.helpers.foldline(line).replaceAll('\r\n', '\n')

/** `Lovelace;Ada;;;`: the last word is the name of the family. */
function structuredName(name: string): string {
  const words = name.trim().split(/\s+/)
  const family = words.length > 1 ? words.pop()! : ''
  return `${escaped(family)};${escaped(words.join(' '))};;;`
}

/** The e-mail addresses or numbers of a row, the first one first. */
const reachOfRow = (row: Row, first: string, others: string): string[] =>
  [row[first], ...(Array.isArray(row[others]) ? row[others] : [])].map(stringOf).filter((text) => text !== '')

const withoutPref = (types: string): string =>
  types
    .split(',')
    .filter((type) => type.trim().toLowerCase() !== 'pref')
    .join(',')

/** A line without what makes it the preferred one: `PREF=1`, or `PREF` in a list of types. */
const withoutPreference = (line: string): string =>
  line.replace(/^(?:"[^"\n]*"|[^":\n])*/, (head) =>
    head
      .replaceAll(/;PREF=[^;]*/gi, '')
      .replaceAll(/;TYPE=(?:"([^"]*)"|([^;]*))/gi, (_, quoted: string | undefined, plain: string | undefined) => {
        const types = withoutPref(quoted ?? plain ?? '')
        if (types === '') return ''
        return quoted === undefined ? `;TYPE=${types}` : `;TYPE="${types}"`
      }),
  )

interface Part {
  /** The names of its properties. */
  names: readonly string[]
  columns: readonly string[]
  lines(row: Row, kept: ReadonlyMap<string, string>): string[]
}

const reachPart = (name: 'email' | 'tel', column: string, others: string): Part => ({
  names: [name],
  columns: [column, others],
  lines: (row, kept) =>
    reachOfRow(row, column, others).map((text) => kept.get(text) ?? `${name.toUpperCase()}:${escaped(text)}`),
})

const parts: readonly Part[] = [
  {
    names: ['fn', 'n'],
    columns: ['name'],
    lines: (row) => [`FN:${escaped(stringOf(row['name']))}`, `N:${structuredName(stringOf(row['name']))}`],
  },
  { names: ['org'], columns: ['company'], lines: (row) => lineOf('ORG', row['company']) },
  reachPart('email', 'email', 'other_emails'),
  reachPart('tel', 'phone', 'other_phones'),
  { names: ['note'], columns: ['note'], lines: (row) => lineOf('NOTE', row['note']) },
  { names: ['uid'], columns: ['uid'], lines: (row) => lineOf('UID', row['uid']) },
]

const lineOf = (name: string, value: unknown): string[] =>
  stringOf(value) === '' ? [] : [`${name}:${escaped(stringOf(value))}`]

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

/** The lines of e-mail addresses and numbers of a card, by their values. */
function reachLines(card: ICAL.Component, lines: ReturnType<typeof vcardLines>): Map<string, string> {
  const byValue = new Map<string, string>()
  for (const name of ['email', 'tel'] as const) {
    const raw = lines.filter((line) => line.name === name)
    for (const [index, value] of reachOf(card, name).entries())
      if (raw[index] && !byValue.has(value)) byValue.set(value, withoutPreference(raw[index].raw))
  }
  return byValue
}

/** A contact as a card. What came from another program comes back as it was, but for changed columns. */
function cardOf(row: Row): string {
  const kept = stringOf(row['vcard'])
  const known = kept === '' ? undefined : readCard(kept)
  if (!known) {
    const lines = parts.flatMap((part) => part.lines(row, new Map()))
    return ['BEGIN:VCARD', 'VERSION:3.0', ...lines.map(folded), 'END:VCARD'].join('\n')
  }
  const changed = parts.filter(({ columns }) => columns.some((name) => !isSame(row[name], known.values[name])))
  if (changed.length === 0) return kept
  const all = vcardLines(kept)
  const reach = reachLines(known.card, all)
  const replaced = new Set(changed.flatMap(({ names }) => names))
  const added = changed
    .flatMap((part) => part.lines(row, reach))
    .map((line) => (line.includes('\n') ? line : folded(line)))
  const rest = all.filter(({ name }) => !replaced.has(name)).map(({ raw }) => raw)
  return [...rest.slice(0, -1), ...added, ...rest.slice(-1)].join('\n')
}

/** Rows of `svc_contacts` as a vCard file (RFC 2426; RFC 6350 for those that came in it). */
export const formatVcf = (rows: readonly Row[]): string =>
  rows.map((row) => `${cardOf(row)}\n`.replaceAll(/\r?\n/g, '\r\n')).join('')
