import ICAL from 'ical.js'
import { DAY } from '../../base/clock.ts'
import { basicTime, isZone, wallOf } from '../../base/zoned-time.ts'
import { calendarLines, type CalendarFile } from './calendars.ts'
import { eventUid, leftOutIn, withSeriesUids } from './event-uid.ts'
import { hasFixedReminder, isReminder } from './ics-alarms.ts'
import { readKept, zoneNamesOf } from './ics-read.ts'
import type { Zones } from './ics-zones.ts'
import type { Row } from './row-values.ts'

/** A text with LF as line end: iCalendar has an escape for it, but none for CR, which would begin a property (RFC 5545, 3.3.11). */
const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.replaceAll(/\r\n?/g, '\n') : undefined

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

/** A rule that the parser does not know is not written. */
function ruleProperty(rule: string): ICAL.Property | undefined {
  try {
    return ICAL.Property.fromString(`RRULE:${rule}`)
  } catch {
    return undefined
  }
}

/** The UID of an event as a file has it. */
export const uidOf = (row: Row): string => stringOf(eventUid(row))!

function write(event: ICAL.Component, column: string, row: Row): void {
  const name = properties[column]!
  event.removeAllProperties(name.toLowerCase())
  if (column === 'ends_at') event.removeAllProperties('duration')
  if (column === 'title' || column === 'location' || column === 'note') {
    const text = stringOf(row[column])
    if (text !== undefined) event.addPropertyWithValue(name.toLowerCase(), text)
  } else if (column === 'rrule') {
    const rule = stringOf(row['rrule'])
    const property = rule === undefined || /[\r\n]/.test(rule) ? undefined : ruleProperty(rule)
    if (property) event.addProperty(property)
  } else if (column === 'uid') {
    event.addPropertyWithValue('uid', uidOf(row))
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

interface EventText {
  text: string
  /** Texts of the zones that it names, by their names. */
  zones: ReadonlyMap<string, string>
}

/** An event of which only columns are known. */
function eventOfColumns(row: Row): EventText {
  const event = new ICAL.Component('vevent')
  event.addProperty(ICAL.Property.fromString(`DTSTAMP:${basicTime(Date.parse(String(row['updated_at'])) || 0)}Z`))
  for (const column of ['uid', ...Object.keys(properties)]) write(event, column, row)
  writeReminders(event, row)
  return { text: event.toString(), zones: new Map() }
}

function zonesIn(event: ICAL.Component, zones: Zones): Map<string, string> {
  const texts = new Map<string, string>()
  for (const name of zoneNamesOf(event)) {
    const zone = zones.get(name)
    if (zone) texts.set(name, zone.text)
  }
  return texts
}

/** An event that came from another program, as it was but for changed columns. */
function eventOfText(row: Row): EventText | undefined {
  const kept = stringOf(row['ical'])
  // Times without a zone were read in the zone of a machine; in which one does not show in the columns.
  const known = kept === undefined ? undefined : readKept(kept, stringOf(row['tzid']) ?? 'UTC')
  if (!known) return undefined
  const { event, text, zones, values } = known
  const isMoved = ['all_day', 'tzid'].some((column) => !isSame(column, values[column], row[column]))
  const changed = Object.keys(properties).filter(
    (column) => !isSame(column, values[column], row[column]) || (isMoved && placed.includes(column)),
  )
  // Reminders count from the start; others in the text would stay where they were.
  const isShifted =
    Array.isArray(row['reminders']) && changed.some((name) => name.endsWith('s_at')) && hasFixedReminder(event)
  const isReminded = hasOtherReminders(row, values) || isShifted
  if (changed.length === 0 && !isReminded) return { text, zones: zonesIn(event, zones) }
  // An event without a UID is known by its text, which is another one now.
  for (const column of new Set([...changed, ...(values['uid'] === null ? ['uid'] : [])])) write(event, column, row)
  if (isReminded) writeReminders(event, row)
  return { text: event.toString(), zones: zonesIn(event, zones) }
}

/** The columns of every event that can be written, whatever the others have. */
const plain = ['id', 'uid', 'title', 'location', 'note', 'starts_at', 'all_day', 'created_at', 'updated_at']

/** Writes an event as exactly as its row permits: what a parser refuses in one must not keep the others from being written. */
function eventOf(row: Row): EventText {
  for (const write of [eventOfText, eventOfColumns])
    try {
      const event = write(row)
      if (event) return event
    } catch {
      // The next way needs less of the row.
    }
  return eventOfColumns(Object.fromEntries(plain.map((column) => [column, row[column]])))
}

/** The text of an event as the file of an export has it, with the zones that it names, and the line ends of the column `ical`. */
export function formatEvent(row: Row): string {
  const { text, zones } = eventOf(row)
  return [...zones.values(), text].join('\n').replaceAll('\r\n', '\n')
}

/** Gives a zone and its times in an event another name. */
function renamed(part: string, from: string, to: string): string {
  const component = new ICAL.Component(ICAL.parse(part) as unknown[])
  for (const property of component.getAllProperties()) {
    if (property.name === 'tzid') property.setValue(to)
    if (property.getFirstParameter('tzid') === from) property.setParameter('tzid', to)
  }
  return component.toString()
}

/** Zones of one name are written once. Of several that programs gave the same name, the later ones get another. */
function makeZoneNames() {
  const texts = new Map<string, string>()
  const names = new Map<string, string>()
  const nameOf = (name: string, text: string): string => {
    const key = JSON.stringify([name, text])
    const known = names.get(key)
    if (known !== undefined) return known
    let own = name
    // The platform has one clock by this name.
    for (let number = 2; texts.has(own) && !isZone(name); number++) own = `${name} (${number})`
    names.set(key, own)
    if (!texts.has(own)) texts.set(own, own === name ? text : renamed(text, name, own))
    return own
  }
  return {
    texts,
    place({ text, zones }: EventText): string {
      let placed = text
      for (const [name, zone] of zones) {
        const own = nameOf(name, zone)
        if (own !== name) placed = renamed(placed, name, own)
      }
      return placed
    },
  }
}

/** Rows of `svc_events` as an iCalendar file (RFC 5545), which names the calendar if they are those of one. */
export function formatIcs(rows: readonly Row[], calendar?: CalendarFile): string {
  const zones = makeZoneNames()
  const isLeftOut = leftOutIn(rows)
  const shown = rows.filter((row) => !isLeftOut(row))
  const events = withSeriesUids(shown).map((row) => zones.place(eventOf(row)))
  const parts = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//svc//EN',
    ...(calendar ? calendarLines(calendar).map((line) => ICAL.helpers.foldline(line)) : []),
    ...zones.texts.values(),
    ...events,
    'END:VCALENDAR',
  ]
  return `${parts.join('\n').replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')}\r\n`
}
