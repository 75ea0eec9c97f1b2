import ICAL from 'ical.js'
import { DAY } from '../../base/clock.ts'
import { basicTime, isZone, wallOf } from '../../base/zoned-time.ts'
import { calendarLines, type CalendarFile } from './calendars.ts'
import { hasFixedReminder, isReminder } from './ics-alarms.ts'
import { readKept } from './ics-read.ts'
import type { Row } from './row-values.ts'

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The text of a property with times: whole days as dates, others by the clock of their series or in UTC. */
function timeText(name: string, moments: readonly number[], row: Row): string {
  if (row['all_day'] === true)
    return `${name};VALUE=DATE:${moments.map((moment) => basicTime(moment).slice(0, 8)).join(',')}`
  const zone = stringOf(row['tzid'])
  if (zone === undefined || !isZone(zone) || zone === 'UTC')
    return `${name}:${moments.map((moment) => `${basicTime(moment)}Z`).join(',')}`
  return `${name};TZID=${zone}:${moments.map((moment) => basicTime(wallOf(moment, zone))).join(',')}`
}

const momentsOf = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value])
    .map((one) => Date.parse(String(one)))
    .filter((moment) => !Number.isNaN(moment))

/** The properties of iCalendar that a column is written as. */
const properties: Record<string, string> = {
  title: 'SUMMARY',
  location: 'LOCATION',
  note: 'DESCRIPTION',
  starts_at: 'DTSTART',
  ends_at: 'DTEND',
  uid: 'UID',
  rrule: 'RRULE',
  rdates: 'RDATE',
  exdates: 'EXDATE',
  recurrence_id: 'RECURRENCE-ID',
}

/** Columns whose form depends on whether an event has hours, and on its zone. */
const placed = ['starts_at', 'ends_at', 'rdates', 'exdates', 'recurrence_id']

function write(event: ICAL.Component, column: string, row: Row): void {
  const name = properties[column]!
  event.removeAllProperties(name.toLowerCase())
  if (column === 'ends_at') event.removeAllProperties('duration')
  if (column === 'title' || column === 'location' || column === 'note') {
    const text = stringOf(row[column])
    if (text !== undefined) event.addPropertyWithValue(name.toLowerCase(), text)
  } else if (column === 'rrule') {
    const rule = stringOf(row['rrule'])
    if (rule !== undefined && !/[\r\n]/.test(rule)) event.addProperty(ICAL.Property.fromString(`RRULE:${rule}`))
  } else if (column === 'uid') {
    event.addPropertyWithValue('uid', stringOf(row['uid']) ?? `${String(row['id'])}@svc`)
  } else {
    const moments = momentsOf(row[column])
    if (column === 'ends_at' && moments.length === 0 && row['all_day'] === true)
      moments.push(...momentsOf(row['starts_at']).map((start) => start + DAY))
    if (moments.length > 0) event.addProperty(ICAL.Property.fromString(timeText(name, moments, row)))
  }
}

/** Replaces the alarms that are the reminders of a row. */
function writeReminders(event: ICAL.Component, row: Row): void {
  for (const alarm of event.getAllSubcomponents('valarm')) if (isReminder(alarm)) event.removeSubcomponent(alarm)
  const reminders = Array.isArray(row['reminders']) ? row['reminders'].map(Number).filter(Number.isSafeInteger) : []
  for (const minutes of reminders) {
    const alarm = new ICAL.Component('valarm')
    alarm.addPropertyWithValue('action', 'DISPLAY')
    alarm.addPropertyWithValue('description', stringOf(row['title']) ?? '')
    alarm.addProperty(ICAL.Property.fromString(`TRIGGER:${minutes > 0 ? '-' : ''}PT${Math.abs(minutes)}M`))
    event.addSubcomponent(alarm)
  }
}

/** Whether a row has other reminders than the kept text; null where a program did not know them. */
const hasOtherReminders = (row: Row, kept: Row): boolean =>
  Array.isArray(row['reminders']) && JSON.stringify(row['reminders']) !== JSON.stringify(kept['reminders'] ?? [])

/** Whether a column has the same value; a time can be written in several ways. */
function isSame(column: string, a: unknown, b: unknown): boolean {
  if (!placed.includes(column)) return (a ?? null) === (b ?? null)
  return momentsOf(a ?? []).join() === momentsOf(b ?? []).join()
}

/** An event and the zones that it names. What came from another program comes back as it was, but for changed columns. */
function eventOf(row: Row): { text: string; zones: readonly string[] } {
  const kept = stringOf(row['ical'])
  // Times without a zone were read in the zone of a machine; in which one does not show in the columns.
  const known = kept === undefined ? undefined : readKept(kept, stringOf(row['tzid']) ?? 'UTC')
  if (!known) {
    const event = new ICAL.Component('vevent')
    event.addProperty(ICAL.Property.fromString(`DTSTAMP:${basicTime(Date.parse(String(row['updated_at'])) || 0)}Z`))
    for (const column of ['uid', ...Object.keys(properties)]) write(event, column, row)
    writeReminders(event, row)
    return { text: event.toString(), zones: [] }
  }
  const { event, zones, values } = known
  const isMoved = ['all_day', 'tzid'].some((column) => !isSame(column, values[column], row[column]))
  const changed = Object.keys(properties).filter(
    (column) => !isSame(column, values[column], row[column]) || (isMoved && placed.includes(column)),
  )
  // Reminders count from the start; others in the text would stay where they were.
  const isShifted =
    Array.isArray(row['reminders']) && changed.some((name) => name.endsWith('s_at')) && hasFixedReminder(event)
  const isReminded = hasOtherReminders(row, values) || isShifted
  if (changed.length === 0 && !isReminded) return { text: kept!.slice(kept!.indexOf('BEGIN:VEVENT')), zones }
  for (const column of changed) write(event, column, row)
  if (isReminded) writeReminders(event, row)
  return { text: event.toString(), zones }
}

/** Rows of `svc_events` as an iCalendar file (RFC 5545), which names the calendar if they are those of one. */
export function formatIcs(rows: readonly Row[], calendar?: CalendarFile): string {
  const events = rows.map(eventOf)
  const zones = new Set(events.flatMap((event) => event.zones))
  const parts = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//svc//EN',
    ...(calendar ? calendarLines(calendar).map((line) => ICAL.helpers.foldline(line)) : []),
    ...zones,
    ...events.map(({ text }) => text),
    'END:VCALENDAR',
  ]
  return `${parts.join('\n').replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')}\r\n`
}
