import type { Candidate } from './row-files.ts'
import { readIcs } from './ics-read.ts'
import { BadRow, problemsOf, type Row } from './row-values.ts'
import type { TableName } from '../../contract/tables.ts'

/** Reads the events of an iCalendar file; times without a zone are in that of the caller. */
export function candidatesOfIcs(table: TableName, text: string, ownZone: string): Candidate[] {
  if (table !== 'svc_events') throw new BadRow('An iCalendar file has events: import it into svc_events.')
  return readIcs(text, ownZone).map(({ where, values, problems }) => ({
    where,
    values,
    problems: problems.length > 0 ? problems : problemsOf(table, 'new', values),
  }))
}

const momentOf = (value: unknown): number | undefined => (typeof value === 'string' ? Date.parse(value) : undefined)

/** What identifies an event in all programs: its UID, and of a changed occurrence also its original time. */
const identityOf = ({ uid, recurrence_id }: Row): string | undefined =>
  typeof uid === 'string' ? JSON.stringify([uid, momentOf(recurrence_id)]) : undefined

/** Makes candidates whose event exists changes of its row; those that differ in nothing are left out. */
export function withKnownEvents(candidates: readonly Candidate[], rows: readonly Row[]): Candidate[] {
  const known = new Map<string, Row>()
  for (const row of rows) {
    const identity = identityOf(row)
    if (identity !== undefined) known.set(identity, row)
  }
  return candidates.flatMap((candidate) => {
    const row = known.get(identityOf(candidate.values) ?? '')
    if (!row) return [candidate]
    if (row['ical'] === candidate.values['ical']) return []
    return [{ ...candidate, id: row['id'] as number }]
  })
}
