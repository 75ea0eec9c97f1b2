import ICAL from 'ical.js'
import { HOUR, iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import { isZone, momentOf } from '../../base/zoned-time.ts'
import type { Row } from './row-values.ts'

/** Most characters of an event with the time zones that it names; as the column `ical`. */
const MAX_EVENT = 1_000_000

/** An event of an iCalendar file (RFC 5545) as columns of `svc_events`. */
export interface IcsEvent {
  /** For example `event 3`. */
  where: string
  values: Row
  problems: string[]
}

/** The texts of the components of a kind; a continued line begins with a space, so these lines begin and end them. */
function* componentsOf(text: string, kind: string): Generator<string, void, void> {
  const [begin, end] = [`\nBEGIN:${kind}`, `\nEND:${kind}`]
  for (let from = text.indexOf(begin); from !== -1;) {
    const to = text.indexOf(end, from)
    if (to === -1) return
    yield text.slice(from + 1, to + end.length)
    from = text.indexOf(begin, to)
  }
}

/** Zones of a file by name; undefined for those that are not read. */
type Zones = ReadonlyMap<string, { text: string; zone: ICAL.Timezone } | undefined>

/** Most characters of a zone. */
const MAX_ZONE = 20_000

/** The rules by which zones change; any other can keep the parser busy for hours. */
const CHANGE =
  /^RRULE:(?:FREQ=YEARLY|BYMONTH=\d{1,2}|BYDAY=[-+]?\d(?:SU|MO|TU|WE|TH|FR|SA)|UNTIL=\d{8}T\d{6}Z|INTERVAL=1|WKST=\w\w|;)+$/

const isHarmless = (zone: string): boolean =>
  zone.length <= MAX_ZONE &&
  (zone.match(/^(?:RRULE|EXRULE)[^]*?$(?!\n[ \t])/gim) ?? []).every((rule) => CHANGE.test(rule))

function zonesOf(text: string): Zones {
  const zones = new Map<string, { text: string; zone: ICAL.Timezone } | undefined>()
  for (const part of componentsOf(text, 'VTIMEZONE')) {
    const name = /^TZID:(.+)$/im.exec(part)?.[1]
    if (name !== undefined) zones.set(name, undefined)
    if (!isHarmless(part)) continue
    try {
      const zone = new ICAL.Timezone(new ICAL.Component(ICAL.parse(part) as unknown[]))
      if (zone.tzid) zones.set(zone.tzid, { text: part, zone })
    } catch {
      // A zone that cannot be read is as good as none.
    }
  }
  return zones
}

interface Moments {
  zones: Zones
  ownZone: string
}

/** The name by which the platform knows a zone; some programs write a path before it. */
const zoneNamed = (tzid: string): string | undefined =>
  [tzid, /\/([A-Z]\w+\/[\w+-]+(?:\/[\w+-]+)?)$/.exec(tzid)?.[1]].find((name) => name !== undefined && isZone(name))

/** A time as a moment, ms; times without a zone are in that of the caller. */
function momentOfTime(time: ICAL.Time, tzid: string | undefined, { zones, ownZone }: Moments): number {
  const { year, month, day, hour, minute, second } = time
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  if (time.isDate || time.zone === ICAL.Timezone.utcTimezone) return wall
  if (tzid === undefined) return momentOf(wall, ownZone)
  const name = zoneNamed(tzid)
  if (name !== undefined) return momentOf(wall, name)
  if (!zones.has(tzid))
    throw new Error(`its time zone "${printable(tzid)}" is not known, and the file does not define it`)
  const zone = zones.get(tzid)?.zone
  return zone ? wall - zone.utcOffset(time) * 1_000 : momentOf(wall, ownZone)
}

const tzidOf = (property: ICAL.Property): string | undefined => property.getFirstParameter('tzid') || undefined

/** The moments of all properties of a name. */
function datesOf(event: ICAL.Component, name: string, moments: Moments): string[] | null {
  const found = event.getAllProperties(name).flatMap((property) =>
    property.getValues().flatMap((value: unknown) => {
      const time = value instanceof ICAL.Period ? value.start : value
      return time instanceof ICAL.Time ? [iso(momentOfTime(time, tzidOf(property), moments))] : []
    }),
  )
  return found.length > 0 ? found : null
}

function endOf(event: ICAL.Component, start: ICAL.Time, at: number, moments: Moments): number | undefined {
  const end = event.getFirstProperty('dtend')
  const time: unknown = end?.getFirstValue()
  if (end && time instanceof ICAL.Time) return momentOfTime(time, tzidOf(end), moments)
  const duration: unknown = event.getFirstPropertyValue('duration')
  if (duration instanceof ICAL.Duration) return at + duration.toSeconds() * 1_000
  return start.isDate ? at + 24 * HOUR : undefined
}

const textOf = (event: ICAL.Component, name: string, max: number): string | null => {
  const value: unknown = event.getFirstPropertyValue(name)
  return typeof value === 'string' ? value.slice(0, max) : null
}

/** Most reminders of an event that are read. */
const MAX_REMINDERS = 20

/** The minutes before the start at which an event reminds; those that depend on its end or on no event are left to the kept text. */
function remindersOf(event: ICAL.Component): string[] | null {
  const minutes = event.getAllSubcomponents('valarm').flatMap((alarm) => {
    const trigger = alarm.getFirstProperty('trigger')
    const value: unknown = trigger?.getFirstValue()
    const isShown = isReminder(alarm)
    if (!isShown || !(value instanceof ICAL.Duration) || trigger?.getFirstParameter('related') === 'END') return []
    const before = Math.round(-value.toSeconds() / 60)
    return Math.abs(before) <= 999_999 ? [`${before === 0 ? 0 : before}`] : []
  })
  return minutes.length > 0 ? [...new Set(minutes)].slice(0, MAX_REMINDERS) : null
}

/** Whether an alarm shows or sounds; others send e-mail. */
export const isReminder = (alarm: ICAL.Component): boolean =>
  ['DISPLAY', 'AUDIO'].includes(String(alarm.getFirstPropertyValue('action') ?? 'DISPLAY').toUpperCase())

/** The columns of an event, without its original text; undefined if it has no beginning. */
function valuesOf(event: ICAL.Component, moments: Moments): Row | undefined {
  const property = event.getFirstProperty('dtstart')
  const start: unknown = property?.getFirstValue()
  if (!property || !(start instanceof ICAL.Time)) return undefined
  const at = momentOfTime(start, tzidOf(property), moments)
  const end = endOf(event, start, at, moments)
  const tzid = tzidOf(property)
  const rule: unknown = event.getFirstPropertyValue('rrule')
  const isFloating = start.zone === ICAL.Timezone.localTimezone && tzid === undefined
  const zone = (tzid !== undefined && zoneNamed(tzid)) || (isFloating ? moments.ownZone : null)
  const [original] = datesOf(event, 'recurrence-id', moments) ?? []
  return {
    title: textOf(event, 'summary', 500) ?? '',
    starts_at: iso(at),
    ends_at: end === undefined || end < at ? null : iso(end),
    all_day: start.isDate,
    location: textOf(event, 'location', 2_000),
    note: textOf(event, 'description', 1_000_000),
    uid: textOf(event, 'uid', 500),
    tzid: start.isDate ? null : zone,
    rrule: rule instanceof ICAL.Recur ? rule.toString().slice(0, 1_000) : null,
    rdates: datesOf(event, 'rdate', moments),
    exdates: datesOf(event, 'exdate', moments),
    recurrence_id: original ?? null,
    reminders: remindersOf(event),
  }
}

/** Reads the text that the column `ical` has. */
export function readKept(
  kept: string,
  ownZone: string,
): { event: ICAL.Component; zones: string[]; values: Row } | undefined {
  try {
    const zones = zonesOf(`\n${kept}`)
    const [text] = componentsOf(`\n${kept}`, 'VEVENT')
    const event = new ICAL.Component(ICAL.parse(text ?? '') as unknown[])
    const values = valuesOf(event, { zones, ownZone })
    return values && { event, zones: [...componentsOf(`\n${kept}`, 'VTIMEZONE')], values }
  } catch {
    return undefined
  }
}

/** Reads the events of a file, each on its own, so that one that is damaged leaves the others alone. */
export function readIcs(text: string, ownZone: string): IcsEvent[] {
  const body = `\n${text.replaceAll(/\r\n?/g, '\n')}`
  const zones = zonesOf(body)
  return [...componentsOf(body, 'VEVENT')].map((part, index) => {
    const where = `event ${index + 1}`
    const bad = (problem: string): IcsEvent => ({ where, values: {}, problems: [problem] })
    const named = [...zones].filter(([tzid]) => part.includes(`TZID=${tzid}`) || part.includes(`TZID="${tzid}"`))
    const ical = [...named.flatMap(([, zone]) => zone?.text ?? []), part].join('\n')
    if (ical.length > MAX_EVENT) return bad(`it has more than ${MAX_EVENT} characters.`)
    try {
      const event = new ICAL.Component(ICAL.parse(part) as unknown[])
      const values = valuesOf(event, { zones, ownZone })
      return values ? { where, values: { ...values, ical }, problems: [] } : bad('it has no beginning.')
    } catch (error) {
      return bad(`it cannot be read: ${(error as Error).message.slice(0, 200)}.`)
    }
  })
}
