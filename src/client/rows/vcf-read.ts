import ICAL from 'ical.js'
import { componentsOf, linesOf, makeLineCounter } from './content-lines.ts'
import { importWords, type ImportWords } from './import-words.ts'
import { shortened } from './row-text.ts'
import type { Row } from './row-values.ts'
import { modernCard } from './vcf-lines.ts'

/** As the columns of `svc_contacts`. */
const [MAX_NAME, MAX_EMAIL, MAX_PHONE, MAX_NOTE, MAX_CARD] = [500, 320, 64, 1_000_000, 1_000_000]

/** Most further e-mail addresses of a contact, and most further numbers. */
const MAX_FURTHER = 30

/** A card of a vCard file as columns of `svc_contacts`. */
export interface VcardContact {
  /** For example `contact 3 (line 40)`. */
  where: string
  values: Row
  problems: string[]
  notes: string[]
  /** Pictures and sounds that are left out. */
  media: number
  isGroup: boolean
}

const clean = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim()

/** The parts of a value such as `Lovelace;Ada;;;`. */
const partsOf = (card: ICAL.Component, name: string): string[] => {
  const value: unknown = card.getFirstPropertyValue(name)
  const parts: unknown[] = Array.isArray(value) ? value : [value]
  return parts.map((part) => clean(Array.isArray(part) ? part.join(' ') : typeof part === 'string' ? part : ''))
}

const textOf = (card: ICAL.Component, name: string): string => {
  const value: unknown = card.getFirstPropertyValue(name)
  // The parser takes escaped semicolons for text where a value has one part.
  return typeof value === 'string' ? value.replaceAll(String.raw`\;`, ';') : ''
}

/** A note; one of version 3.0 whose commas are not escaped is a list for the parser. */
const noteOf = (card: ICAL.Component): string =>
  (card.getFirstProperty('note')?.getValues() ?? [])
    .map((value: unknown) => String(value).replaceAll(String.raw`\;`, ';'))
    .join(',')

/** 1 for the preferred one (`PREF=1`, `TYPE=PREF`), to 101. */
function rankOf(property: ICAL.Property): number {
  const pref = Number(property.getFirstParameter('pref'))
  if (pref >= 1) return pref
  const types: unknown = property.jCal[1] && (property.jCal[1] as Record<string, unknown>)['type']
  return [types].flat().some((type) => String(type).toLowerCase() === 'pref') ? 1 : 101
}

const withoutScheme = (text: string): string => clean(text.replace(/^(?:tel|mailto):/i, '').replace(/;ext=/i, ' ext. '))

/** The values of all properties of a name in the order of the card, without a scheme. */
export const reachOf = (card: ICAL.Component, name: 'email' | 'tel'): string[] =>
  card.getAllProperties(name).map((property) => withoutScheme(String(property.getFirstValue())))

/** The same, each once and the preferred one first. */
function preferredOf(card: ICAL.Component, name: 'email' | 'tel', max: number, tooLong: string, notes: string[]) {
  const ranks = card.getAllProperties(name).map(rankOf)
  const all = reachOf(card, name).map((text, index) => ({ text, rank: ranks[index]! }))
  const sorted = all.toSorted((a, b) => a.rank - b.rank).map(({ text }) => text)
  if (sorted.some((text) => text.length > max)) notes.push(tooLong)
  return [...new Set(sorted)].filter((text) => text !== '' && text.length <= max)
}

function nameOf(card: ICAL.Component, fallbacks: readonly (string | undefined)[]): string {
  const [family = '', given = '', additional = '', prefix = '', suffix = ''] = partsOf(card, 'n')
  const parts = [prefix, given, additional, family, suffix].filter((part) => part !== '').join(' ')
  return [clean(textOf(card, 'fn')), parts, ...fallbacks].find((name) => name !== undefined && name !== '') ?? ''
}

const listOf = (texts: readonly string[]): string[] | null => (texts.length > 0 ? [...texts] : null)

/** The columns of a card, without its text. */
function valuesOf(card: ICAL.Component, words: ImportWords, notes: string[]): Row {
  const emails = preferredOf(card, 'email', MAX_EMAIL, words.email_left(MAX_EMAIL), notes)
  const phones = preferredOf(card, 'tel', MAX_PHONE, words.phone_left(MAX_PHONE), notes)
  const company = shortened(partsOf(card, 'org')[0] ?? '', MAX_NAME)
  const name = nameOf(card, [company, emails[0], phones[0]])
  if (name.length > MAX_NAME) notes.push(words.name_cut(MAX_NAME))
  if (Math.max(emails.length, phones.length) > MAX_FURTHER + 1) notes.push(words.many_left(MAX_FURTHER + 1))
  return {
    name: shortened(name, MAX_NAME),
    email: emails[0] ?? null,
    phone: phones[0] ?? null,
    company: company || null,
    note: shortened(noteOf(card), MAX_NOTE) || null,
    uid: shortened(clean(textOf(card, 'uid')), MAX_NAME) || null,
    other_emails: listOf(emails.slice(1, MAX_FURTHER + 1)),
    other_phones: listOf(phones.slice(1, MAX_FURTHER + 1)),
  }
}

const isGroup = (card: ICAL.Component): boolean =>
  ['kind', 'x-addressbookserver-kind'].some((name) => textOf(card, name).toLowerCase() === 'group')

/** Reads the text that the column `vcard` has. */
export function readCard(text: string): { card: ICAL.Component; values: Row } | undefined {
  try {
    const card = new ICAL.Component(ICAL.parse(text) as unknown[])
    return { card, values: valuesOf(card, importWords, []) }
  } catch {
    return undefined
  }
}

/** Reads the cards of a file (versions 2.1, 3.0 and 4.0), each on its own, so that a damaged one leaves the others alone. */
export function readVcards(text: string, words = importWords): VcardContact[] {
  // Control characters cannot be stored, and mean nothing.
  const body = linesOf(text).replaceAll(/[^\P{Cc}\n\t]/gu, '')
  const lineOf = makeLineCounter(body)
  return [...componentsOf(body, 'VCARD')].map(({ part, from }, index) => {
    const { text: vcard, media } = modernCard(part)
    const contact = { where: words.contact(index + 1, lineOf(from)), values: {}, notes: [], media, isGroup: false }
    const bad = (problem: string): VcardContact => ({ ...contact, problems: [problem] })
    if (vcard.length > MAX_CARD) return bad(words.too_long(MAX_CARD))
    try {
      const card = new ICAL.Component(ICAL.parse(vcard) as unknown[])
      const notes: string[] = []
      const values = valuesOf(card, words, notes)
      if (values['name'] === '') return bad(words.no_name)
      return { ...contact, values: { ...values, vcard }, problems: [], notes, isGroup: isGroup(card) }
    } catch (error) {
      return bad(words.unreadable((error as Error).message.slice(0, 200)))
    }
  })
}
