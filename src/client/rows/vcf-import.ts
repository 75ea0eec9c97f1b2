import { importWords } from './import-words.ts'
import { withKnownRows } from './known-rows.ts'
import type { Candidate, ImportedFile } from './row-files.ts'
import { problemsOf, type Row } from './row-values.ts'
import { readVcards } from './vcf-read.ts'

/** Reads the contacts of a vCard file; groups of contacts are left out. */
export function readVcfFile(text: string, words = importWords): ImportedFile {
  const cards = readVcards(text, words)
  const isWhole = /(?:^|[\r\n])END:VCARD\s*$/i.test(text)
  const ofFile = isWhole ? (cards.length === 0 ? words.no_contacts : undefined) : words.cut_off('END:VCARD')
  const candidates = cards
    .filter(({ isGroup }) => !isGroup)
    .map(({ where, values, problems, notes }) => ({
      where,
      values,
      problems: problems.length > 0 ? problems : problemsOf('svc_contacts', 'new', values, words),
      notes,
    }))
  return {
    candidates: [
      ...(ofFile === undefined ? [] : [{ where: words.the_file, values: {}, problems: [ofFile] }]),
      ...candidates,
    ],
    left: {
      pictures: cards.reduce((sum, { media }) => sum + media, 0),
      groups: cards.length - candidates.length,
    },
  }
}

const COMPARED = ['name', 'email', 'phone', 'company', 'note', 'other_emails', 'other_phones']

/** A column of a row as it is read from an export. */
function compared(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null
  const text = name === 'note' ? value.replaceAll(/\r\n?/g, '\n') : value.replaceAll(/\p{Cc}+/gu, ' ').trim()
  return text === '' ? null : text
}

/** Contacts without a UID are known by the text that they were imported from, or by their columns. */
function keysOf(values: Row): string[] {
  if (typeof values['uid'] === 'string' && values['uid'] !== '') return [`uid ${values['uid']}`]
  const columns = `columns ${JSON.stringify(COMPARED.map((name) => compared(name, values[name])))}`
  return typeof values['vcard'] === 'string' ? [`card ${values['vcard']}`, columns] : [columns]
}

export const withKnownContacts = (candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] =>
  withKnownRows(candidates, rows, {
    keysOf,
    isUnchanged: (row, { uid, vcard }) => typeof uid !== 'string' || row['vcard'] === vcard,
  })
