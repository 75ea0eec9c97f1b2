import { computed } from '@preact/signals'
import { calendarOf } from '../../../client/rows/calendars.ts'
import { ApiError } from '../../kit/api-error.ts'
import { compareNames } from '../../kit/formats.ts'
import { pushRows } from '../../kit/push-rows.ts'
import { openTable, uuid, type Fields, type Row } from '../../kit/rows.ts'
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
  entries.all.value.filter((event) => calendarOfEvent(event) === calendar)

/** Changes a calendar; the default one gets a row with its first change. */
export async function changeCalendar({ row, name }: Calendar, change: Partial<Fields<'svc_calendars'>>): Promise<void> {
  if (row) await table.update(row.id, change, row.version)
  else await table.insert({ name, color: null, hidden: false, ...change, uid: uuid(), is_default: true })
}

const freeColor = (): string => colors.find((one) => calendars.value.every((known) => known.color !== one)) ?? colors[0]

/** Adds a calendar and returns its UID. */
export async function addCalendar(name: string, color = freeColor()): Promise<string> {
  const uid = uuid()
  await table.insert({ name, color, hidden: false, uid, is_default: false })
  return uid
}

/** Removes a calendar that was added for an import, unless it has other events by now. */
export async function removeEmptyCalendar(uid: string): Promise<void> {
  const row = table.rows.value.find((one) => one.uid === uid)
  if (row && entries.all.value.every((event) => event.calendar_uid !== uid)) await table.remove(row.id)
}

/** The calendar of new events: the one that the user chose, while it exists. */
export const newEventsCalendar = computed<Calendar>(
  () => calendars.value.find(({ uid }) => uid === newEventsUid.value) ?? calendars.value[0]!,
)

/** Most events of a request. */
const BATCH = 50

type Operation = Parameters<typeof pushRows>[0][number]

/** Sends operations in batches, and says of each which was carried out. */
async function push(operations: readonly Operation[], onDone: (index: number) => void = () => undefined) {
  for (let from = 0; from < operations.length; from += BATCH) {
    const results = await pushRows(operations.slice(from, from + BATCH))
    for (const [at, { ok }] of results.entries()) if (ok) onDone(from + at)
    const failed = results.find(({ ok }) => !ok)
    if (failed) throw new ApiError({ code: failed.code ?? failed.status, message: failed.error ?? '' })
  }
}

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
  const events = eventsOf(calendar).flatMap((event) => {
    if (event.row === undefined) return []
    const { id } = event.row
    return [{ id, data: { ...entries.fieldsOf(event) }, restoreId: uuid() }]
  })
  const restoreId = uuid()
  const moved = (calendar_uid: string | null): Operation[] =>
    events.map(({ id }) => ({
      table: 'svc_events',
      operation: 'UPDATE',
      data: { id, calendar_uid },
      op_id: uuid(),
    }))
  const removed = (): Operation[] =>
    events.map(({ id }) => ({ table: 'svc_events', operation: 'DELETE', data: { id }, op_id: uuid() }))
  const gone = new Set<number>()
  // The response of a request that was carried out can be lost; then the feed says what is gone.
  const isGone = (id: number): boolean => gone.has(id) || entries.table.get(id) === undefined
  const undo = async (): Promise<void> => {
    if (!table.get(row.id)) await table.insert({ name, uid, color, hidden, is_default: false }, restoreId)
    const restored = events.filter(({ id }) => isGone(id))
    await push(
      target
        ? moved(uid)
        : restored.map(({ data, restoreId: op_id }) => ({ table: 'svc_events', operation: 'INSERT', data, op_id })),
    )
  }
  try {
    await push(target ? moved(target.uid || null) : removed(), (index) => gone.add(events[index]!.id))
    await table.remove(row.id)
    return { undo }
  } catch (error) {
    return { undo, error }
  }
}
