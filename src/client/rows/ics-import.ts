import { readIcs } from './ics-read.ts'
import { joinSeries } from './ics-series.ts'
import { withSeriesUids } from './event-uid.ts'
import { formatEvent, uidOf } from './ics-write.ts'
import { importWords, type ImportWords } from './import-words.ts'
import { withKnownRows } from './known-rows.ts'
import type { Candidate, ImportedFile } from './row-files.ts'
import { problemsOf, type Row } from './row-values.ts'

/** Why a file is not what its writer meant, whatever its events are. */
function problemOfFile(text: string, events: number, words: ImportWords): string | undefined {
  if (!/(?:^|[\r\n])END:VCALENDAR\s*$/i.test(text)) return words.cut_off('END:VCALENDAR')
  return events === 0 ? words.no_events : undefined
}

/** Reads the events of an iCalendar file; times without a zone are in that of the caller. */
export function readIcsFile(text: string, ownZone: string, words = importWords): ImportedFile {
  const read = readIcs(text, ownZone, words)
  const problem = problemOfFile(text, read.length, words)
  const { events, cancelled } = joinSeries(read, words)
  const candidates = events.map(({ where, values, problems, notes }) => ({
    where,
    values,
    problems: problems.length > 0 ? problems : problemsOf('svc_events', 'new', values, words),
    notes,
  }))
  const ofFile = problem === undefined ? [] : [{ where: words.the_file, values: {}, problems: [problem] }]
  return {
    candidates: [...ofFile, ...candidates],
    left: { cancelled, attachments: read.reduce((sum, event) => sum + event.attachments, 0) },
  }
}

const momentOf = (value: unknown): number | undefined => (typeof value === 'string' ? Date.parse(value) : undefined)

const keyOf = (uid: string, { recurrence_id }: Row): string => JSON.stringify([uid, momentOf(recurrence_id)])

/**
 * What identifies an event in all programs: its UID, and of a changed occurrence also its original time; without a UID its text.
 * Rows without a UID are also known by the one that an export gives them.
 */
function keysOf(row: Row): string[] {
  if (typeof row['uid'] === 'string' && row['uid'] !== '') return [keyOf(uidOf(row), row)]
  const ofText = typeof row['ical'] === 'string' ? [row['ical']] : []
  return row['id'] === undefined ? ofText : [keyOf(uidOf(row), row), ...ofText]
}

const momentsOf = (value: unknown): (number | undefined)[] => (Array.isArray(value) ? value : [value]).map(momentOf)

/** Whether a row repeats as a file says, but with occurrences that the file leaves out: other events of it may cancel them. */
function lacksCancelled(row: Row, values: Row): boolean {
  const isSame = (column: string): boolean => momentsOf(row[column]).join() === momentsOf(values[column]).join()
  if (!Array.isArray(values['exdates']) || row['rrule'] !== values['rrule']) return false
  if (!isSame('starts_at') || !isSame('rdates')) return false
  const leftOut = new Set(momentsOf(row['exdates']))
  return momentsOf(values['exdates']).some((moment) => !leftOut.has(moment))
}

/** Makes candidates whose event exists changes of its row, and leaves out those that differ in nothing. */
export function withKnownEvents(candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] {
  const exported = new Map<Row, string>()
  const exportOf = (row: Row): string => {
    const text = exported.get(row) ?? formatEvent(row)
    exported.set(row, text)
    return text
  }
  /** Whether a row is what a file says of the event, in the calendar that it is imported into. */
  const isUnchanged = (row: Row, values: Row): boolean => {
    const { ical, calendar_uid } = values
    if (calendar_uid !== undefined && row['calendar_uid'] !== calendar_uid) return false
    return !lacksCancelled(row, values) && (row['ical'] === ical || exportOf(row) === ical)
  }
  return withKnownRows(candidates, withSeriesUids(rows), { keysOf, isUnchanged })
}
