import type { Candidate } from './row-files.ts'
import { readIcs } from './ics-read.ts'
import { joinSeries } from './ics-series.ts'
import { BadRow, problemsOf, type Row } from './row-values.ts'
import type { TableName } from '../../contract/tables.ts'

/** Why a file is not what its writer meant, whatever its events are. */
function problemOfFile(text: string, events: number): string | undefined {
  if (!/(?:^|[\r\n])END:VCALENDAR\s*$/i.test(text)) return 'it is cut off: its last line is not END:VCALENDAR.'
  return events === 0 ? 'it has no events.' : undefined
}

/** The events of a file that can be imported, and the number of those that are cancelled. */
export interface IcsFile {
  candidates: Candidate[]
  cancelled: number
}

/** Reads the events of an iCalendar file; times without a zone are in that of the caller. */
export function readIcsFile(table: TableName, text: string, ownZone: string): IcsFile {
  if (table !== 'svc_events') throw new BadRow('An iCalendar file has events: import it into svc_events.')
  const read = readIcs(text, ownZone)
  const problem = problemOfFile(text, read.length)
  const { events, cancelled } = joinSeries(read)
  const candidates = events.map(({ where, values, problems, notes }) => ({
    where,
    values,
    problems: problems.length > 0 ? problems : problemsOf(table, 'new', values),
    notes,
  }))
  const ofFile = problem === undefined ? [] : [{ where: 'the file', values: {}, problems: [problem] }]
  return { candidates: [...ofFile, ...candidates], cancelled }
}

const momentOf = (value: unknown): number | undefined => (typeof value === 'string' ? Date.parse(value) : undefined)

/** What identifies an event in all programs: its UID, and of a changed occurrence also its original time. */
const identityOf = ({ uid, recurrence_id }: Row): string | undefined =>
  typeof uid === 'string' ? JSON.stringify([uid, momentOf(recurrence_id)]) : undefined

/** Puts the events of a file into a calendar. */
export const intoCalendar = (candidates: readonly Candidate[], uid: string): Candidate[] =>
  candidates.map((candidate) => ({ ...candidate, values: { ...candidate.values, calendar_uid: uid } }))

/** Whether a row is what a file says of the event, in the calendar that it is imported into. */
const isUnchanged = (row: Row, { ical, calendar_uid }: Row): boolean =>
  row['ical'] === ical && (calendar_uid === undefined || row['calendar_uid'] === calendar_uid)

/**
 * Makes candidates whose event exists changes of its row; those that differ in nothing are left out. Broken programs give
 * several events one identity: each of them then belongs to a row of its own.
 */
export function withKnownEvents(candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] {
  const known = new Map<string, Row[]>()
  for (const row of rows.toSorted((a, b) => Number(a['id']) - Number(b['id']))) {
    const identity = identityOf(row)
    if (identity !== undefined) known.set(identity, [...(known.get(identity) ?? []), row])
  }
  const take = (candidate: Candidate, isMatch: (row: Row) => boolean): Row | undefined => {
    const same = known.get(identityOf(candidate.values) ?? '') ?? []
    const index = same.findIndex(isMatch)
    return index === -1 ? undefined : same.splice(index, 1)[0]
  }
  const changed = candidates.filter((candidate) => !take(candidate, (row) => isUnchanged(row, candidate.values)))
  return changed.map((candidate) => {
    const row = take(candidate, () => true)
    return row ? { ...candidate, id: row['id'] as number, replaces: Number(row['version']) } : candidate
  })
}
