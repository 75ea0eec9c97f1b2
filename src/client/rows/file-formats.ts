import type { TableName } from '../../contract/tables.ts'
import type { CalendarFile } from './calendars.ts'
import { importWords, type ImportWords } from './import-words.ts'
import type { Candidate, ImportedFile } from './row-files.ts'
import { BadRow, type Row } from './row-values.ts'

export interface Exchange {
  /** Times without a zone are in that of the caller. */
  read(text: string, ownZone: string, words?: ImportWords): ImportedFile
  /** Makes candidates that exist already changes of their rows, and leaves out those that differ in nothing. */
  withKnown(candidates: readonly Candidate[], rows: readonly Row[]): Candidate[]
  /** Names the calendar, if the rows are those of one. */
  write(rows: readonly Row[], calendar?: CalendarFile): string
}

interface Format {
  table: TableName
  /** How a file begins. */
  begins: RegExp
  /** Why a file does not belong into another table. */
  misplaced: string
  /** Why another table cannot be written so. */
  unwritable: string
  load(): Promise<Exchange>
}

/** Formats that other programs write. */
export const exchanges = {
  ics: {
    table: 'svc_events',
    begins: /^\ufeff?\s*BEGIN:VCALENDAR\s*$/im,
    misplaced: 'An iCalendar file has events: import it into svc_events.',
    unwritable: 'Only svc_events can be written as iCalendar.',
    async load() {
      const { readIcsFile, withKnownEvents } = await import('./ics-import.ts')
      const { formatIcs } = await import('./ics-write.ts')
      return { read: readIcsFile, withKnown: withKnownEvents, write: formatIcs }
    },
  },
  vcf: {
    table: 'svc_contacts',
    begins: /^\ufeff?\s*BEGIN:VCARD\s*$/im,
    misplaced: 'A vCard file has contacts: import it into svc_contacts.',
    unwritable: 'Only svc_contacts can be written as vCard.',
    async load() {
      const { readVcfFile, withKnownContacts } = await import('./vcf-import.ts')
      const { formatVcf } = await import('./vcf-write.ts')
      return {
        read: (text, _zone, words = importWords) => readVcfFile(text, words),
        withKnown: withKnownContacts,
        write: formatVcf,
      }
    },
  },
  html: {
    table: 'svc_bookmarks',
    begins: /^\ufeff?\s*<!DOCTYPE NETSCAPE-Bookmark-file-1>/i,
    misplaced: 'A bookmark file has bookmarks: import it into svc_bookmarks.',
    unwritable: 'Only svc_bookmarks can be written as HTML.',
    async load() {
      const { formatHtml, readHtmlFile, withKnownBookmarks } = await import('./html-bookmarks.ts')
      return {
        read: (text, _zone, words = importWords) => readHtmlFile(text, words),
        withKnown: withKnownBookmarks,
        write: formatHtml,
      }
    },
  },
} as const satisfies Record<string, Format>

export type ExchangeName = keyof typeof exchanges

export const exchangeNames = Object.keys(exchanges) as ExchangeName[]

export const isExchange = (name: string | undefined): name is ExchangeName =>
  name !== undefined && Object.hasOwn(exchanges, name)

/** The format of a file, by its beginning. */
export const exchangeOf = (text: string): ExchangeName | undefined =>
  exchangeNames.find((name) => exchanges[name].begins.test(text.slice(0, 200)))

/** Reads and writes rows of a table in a format. */
export function loadExchange(name: ExchangeName, table: string, purpose: 'read' | 'write'): Promise<Exchange> {
  const { table: own, misplaced, unwritable, load } = exchanges[name] as Format
  if (table !== own) throw new BadRow(purpose === 'read' ? misplaced : unwritable)
  return load()
}
