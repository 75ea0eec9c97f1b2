import { computed } from '@preact/signals'
import { calendarOf } from '../../../client/rows/calendars.ts'
import { bridge } from '../../kit/bridge.ts'
import { compareNames } from '../../kit/formats.ts'
import { openTable, uuid, type Fields, type Row } from '../../kit/rows.ts'
import { entries, type Event } from './store.ts'
import { words } from './words.ts'

export interface Calendar {
  /** Empty for the default calendar while it has no row. */
  uid: string
  name: string
  color: string | null
  hidden: boolean
  /** Tells the calendar from others where colours do not. */
  sign: string
  row: Row<'svc_calendars'> | undefined
}

const table = openTable('svc_calendars')

/** Colours of new calendars, one after the other. */
const colors = ['#3b5bdb', '#1b6e3c', '#c2410c', '#86198f', '#0e7490', '#b3261e', '#7a4b00'] as const

/** The first letter of a name, with a number if another calendar has it already. */
function signOf(name: string, taken: Set<string>): string {
  const letter = ([...name.trim()][0] ?? '?').toLocaleUpperCase()
  let sign = letter
  for (let count = 2; taken.has(sign); count++) sign = `${letter}${count}`
  taken.add(sign)
  return sign
}

/** The default calendar first, the others by name. */
export const calendars = computed<readonly Calendar[]>(() => {
  const rows = table.rows.value.toSorted((a, b) => a.id - b.id)
  const own = calendarOf(rows, null)
  const others = rows.filter((row) => row !== own).toSorted((a, b) => compareNames(a.name, b.name))
  const taken = new Set<string>()
  return [own, ...others].map((row) => {
    const { uid, name, color, hidden } = row ?? { uid: '', name: words('calendar'), color: null, hidden: false }
    return { uid, name, color, hidden, sign: signOf(name, taken), row }
  })
})

const byUid = computed(() => {
  const known = new Map<string, Calendar>()
  // Of several with one UID, the events belong to the one with the lowest ID.
  const inOrder = calendars.value.toSorted((a, b) => (a.row?.id ?? 0) - (b.row?.id ?? 0))
  for (const one of inOrder) if (!known.has(one.uid)) known.set(one.uid, one)
  return known
})

export const calendarOfEvent = ({ calendar_uid }: Pick<Event, 'calendar_uid'>): Calendar =>
  (calendar_uid === null ? undefined : byUid.value.get(calendar_uid)) ?? calendars.value[0]!

export const eventsOf = (calendar: Calendar): Event[] =>
  entries.all.value.filter((event) => calendarOfEvent(event) === calendar)

/** Changes a calendar; the default one gets a row with its first change. */
export async function changeCalendar({ row, name }: Calendar, change: Partial<Fields<'svc_calendars'>>): Promise<void> {
  if (row) await table.update(row.id, change, row.version)
  else await table.insert({ name, color: null, hidden: false, ...change, uid: uuid(), is_default: true })
}

export async function addCalendar(name: string): Promise<void> {
  const color = colors.find((one) => calendars.value.every((known) => known.color !== one)) ?? colors[0]
  await table.insert({ name, color, hidden: false, uid: uuid(), is_default: false })
}

/** Most events of a request. */
const BATCH = 50

type Operation = { operation: 'INSERT' | 'UPDATE' | 'DELETE'; data: Record<string, unknown> }

async function push(operations: readonly Operation[]): Promise<void> {
  for (let from = 0; from < operations.length; from += BATCH) {
    const some = operations.slice(from, from + BATCH)
    const { results } = await bridge.call('rows.push', {
      operations: some.map((one) => ({ ...one, table: 'svc_events' as const, op_id: uuid() })),
    })
    const failed = results.find(({ ok }) => !ok)
    if (failed) throw new Error(failed.error ?? failed.status)
  }
}

/**
 * Removes a calendar. Its events move to another one or, without one, are removed with it; the calendar goes last, so that
 * an interruption loses nothing. Returns a function that brings back everything.
 */
export async function removeCalendar(calendar: Calendar, target: Calendar | undefined): Promise<() => Promise<void>> {
  const { row, name, uid, color, hidden } = calendar
  const events = eventsOf(calendar).filter((event) => event.row !== undefined)
  const ids = events.map((event) => event.row!.id)
  const moved = (calendar_uid: string | null): Operation[] =>
    ids.map((id) => ({ operation: 'UPDATE', data: { id, calendar_uid } }))
  await push(target ? moved(target.uid || null) : ids.map((id) => ({ operation: 'DELETE', data: { id } })))
  await table.remove(row!.id)
  const fields = events.map((event) => ({ ...entries.fieldsOf(event) }))
  return async () => {
    await table.insert({ name, uid, color, hidden, is_default: false })
    await push(target ? moved(uid) : fields.map((data) => ({ operation: 'INSERT', data })))
  }
}
