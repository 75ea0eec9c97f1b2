import { randomUUID } from 'node:crypto'
import { printable } from '../../base/text.ts'
import type { FeedTable } from '../../contract/tables.ts'
import type { Row } from '../../client/rows/row-values.ts'
import { flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import type { RowAccess } from './row-access.ts'

export const calendarFlag = (summary: string) => flag.text(summary, 'NAME')

export function assertEvents(table: FeedTable): void {
  if (table !== 'svc_events') throw usage('--calendar is for svc_events.')
}

/** The calendar with a name or UID; undefined if there is none. */
async function findCalendar(copy: RowAccess['copy'], name: string): Promise<Row | undefined> {
  const { calendarsNamed } = await import('../../client/rows/calendars.ts')
  const found = calendarsNamed(copy.rows('svc_calendars'), name)
  if (found.length > 1) {
    const uids = found.map((row) => String(row['uid'])).join(', ')
    throw usage(`Several calendars are named ${printable(name)}. Give the uid of one: ${printable(uids)}`)
  }
  return found[0]
}

/** The events of a calendar, and the calendar itself. */
export async function eventsOfCalendar(copy: RowAccess['copy'], name: string): Promise<{ calendar: Row; rows: Row[] }> {
  const calendar = await findCalendar(copy, name)
  if (!calendar) {
    const text = `There is no calendar named ${printable(name)}: svc data list calendars shows them.`
    throw new Exit(5, text, 'not_found')
  }
  const { calendarOf } = await import('../../client/rows/calendars.ts')
  type Known = Row & { id: number; uid: string; is_default: boolean }
  const calendars = copy.rows('svc_calendars') as Known[]
  const rows = copy
    .rows('svc_events')
    .filter((event) => calendarOf(calendars, event['calendar_uid'])?.id === calendar['id'])
  return { calendar, rows }
}

/** The UID of the calendar with a name; it is added if there is none. */
export async function calendarUid({ copy, send }: RowAccess, name: string, color: string | undefined): Promise<string> {
  const found = await findCalendar(copy, name)
  if (found) return String(found['uid'])
  const uid = randomUUID()
  const values = { name, uid, ...(color === undefined ? {} : { color }) }
  const [added] = await send([{ table: 'svc_calendars', verb: 'INSERT', values, op_id: randomUUID() }])
  if (added && !added.ok) {
    const { refusalOf } = await import('./change-result.ts')
    throw new Exit(3, `The calendar could not be added: ${refusalOf(added)}`, added.code ?? added.status)
  }
  return uid
}
