import { computed } from '@preact/signals'
import { calendarOf } from '../../../client/rows/calendars.ts'
import { compareNames } from '../../kit/formats.ts'
import { changeRows, type Operation } from '../../kit/push-rows.ts'
import { openTable, uuid, type Fields, type Row } from '../../kit/rows.ts'
import { toastError } from '../../kit/toast.tsx'
import { entries, newEventsUid, type Event } from './store.ts'
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
  entries.all.value.filter((event) => calendarOfEvent(event).row?.id === calendar.row?.id)

let lastChange: Promise<void> = Promise.resolve()

/** Changes a calendar, one change after the other; the default one gets a row with its first change. */
export function changeCalendar({ row, name }: Calendar, change: Partial<Fields<'svc_calendars'>>): Promise<void> {
  const run = async (): Promise<void> => {
    const current = row ? table.get(row.id) : calendars.value[0]!.row
    if (current) await table.update(current.id, change, current.version)
    else if (!row) await table.insert({ name, color: null, hidden: false, ...change, uid: uuid(), is_default: true })
  }
  const changed = lastChange.then(run)
  lastChange = changed.catch(() => undefined)
  return changed
}

/** Shows a calendar that receives events. */
export function showCalendar(calendar: Calendar): void {
  if (calendar.hidden) void changeCalendar(calendar, { hidden: false }).catch(toastError)
}

const freeColor = (): string => colors.find((one) => calendars.value.every((known) => known.color !== one)) ?? colors[0]

/** Adds a calendar and returns its UID. */
export async function addCalendar(name: string, color = freeColor()): Promise<string> {
  const uid = uuid()
  await table.insert({ name, color, hidden: false, uid, is_default: false })
  return uid
}

/** Events change without their table when they are sent in batches, and responses can be lost. */
async function reload(): Promise<void> {
  for (const one of [table, entries.table]) {
    await one.load()
    if (one.loadError.value !== undefined) throw one.loadError.value as Error
  }
}

/** Removes a calendar that was added for an import, unless it has other events by now. */
export async function removeEmptyCalendar(uid: string): Promise<void> {
  await reload()
  const row = table.rows.value.find((one) => one.uid === uid)
  if (row && entries.all.value.every((event) => event.calendar_uid !== uid)) await table.remove(row.id)
}

/** The calendar of new events: the one that the user chose, while it exists. */
export const newEventsCalendar = computed<Calendar>(
  () => calendars.value.find(({ uid }) => uid === newEventsUid.value) ?? calendars.value[0]!,
)

export interface CalendarRemoval {
  /** Brings back everything; can be repeated. */
  undo: () => Promise<void>
  /** Why a part of it was not removed. */
  error?: unknown
}

/**
 * Removes a calendar. Its events move to another one or, without one, are removed with it; the calendar goes last, so that
 * an interruption loses nothing.
 */
export async function removeCalendar(calendar: Calendar, target: Calendar | undefined): Promise<CalendarRemoval> {
  const { name, uid, color, hidden } = calendar
  const row = calendar.row!
  const events = eventsOf(calendar).flatMap((event) =>
    event.row ? [{ id: event.row.id, data: entries.fieldsOf(event), restoreId: uuid() }] : [],
  )
  const restoreId = uuid()
  const operation = (verb: 'INSERT' | 'UPDATE' | 'DELETE', data: object, op_id = uuid()): Operation => ({
    table: 'svc_events',
    operation: verb,
    data: { ...data },
    op_id,
  })
  const newUid = target ? target.uid || null : undefined
  const undo = async (): Promise<void> => {
    await reload()
    // Another undo of the same deletion may have brought it back.
    const isThere = table.rows.value.some((one) => one.id === row.id || one.uid === uid)
    if (!isThere) await table.insert({ name, uid, color, hidden, is_default: false }, restoreId)
    await changeRows(
      events.flatMap(({ id, data, restoreId: op_id }) => {
        const current = entries.table.get(id)
        if (newUid === undefined) return current ? [] : [operation('INSERT', data, op_id)]
        // Events that were put elsewhere meanwhile stay there.
        return current?.calendar_uid === newUid ? [operation('UPDATE', { id, calendar_uid: uid })] : []
      }),
    )
  }
  try {
    await changeRows(
      events.map(({ id }) =>
        newUid === undefined ? operation('DELETE', { id }) : operation('UPDATE', { id, calendar_uid: newUid }),
      ),
    )
    await table.remove(row.id)
    return { undo }
  } catch (error) {
    return { undo, error }
  }
}
