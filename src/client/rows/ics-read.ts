import ICAL from 'ical.js'
import { DAY, iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import { momentOf } from '../../base/zoned-time.ts'
import { componentsOf, linesOf, makeLineCounter, partsOf, withoutAttachments } from './content-lines.ts'
import { remindersOf } from './ics-alarms.ts'
import { makeZoneMatcher, offsetAt, zoneNamed, zonesOf, type Zones } from './ics-zones.ts'
import { importWords, UnreadablePart, type ImportWords } from './import-words.ts'
import { shortened } from './row-text.ts'
import type { Row } from './row-values.ts'

/** Most characters of an event with the time zones that it names; as the column `ical`. */
const MAX_EVENT = 1_000_000

/** An event of an iCalendar file (RFC 5545) as columns of `svc_events`. */
export interface IcsEvent {
  /** For example `event 3 (line 40)`. */
  where: string
  values: Row
  problems: string[]
  /** What svc does not take over, a sentence each. */
  notes: string[]
  /** Attachments that are left out because the event would be too long. */
  attachments: number
  isCancelled: boolean
  /** Whether a changed occurrence is one with all that follow it. */
  isForFollowing: boolean
}

interface Context {
  zones: Zones
  ownZone: string
  words: ImportWords
  matchZone: ReturnType<typeof makeZoneMatcher>
}

const contextOf = (text: string, ownZone: string, words: ImportWords): Context => {
  const zones = zonesOf(partsOf(text, 'VTIMEZONE'))
  return { zones, ownZone, words, matchZone: makeZoneMatcher(zones, ownZone) }
}

/** The first year in which calendars of computers agree with one another, and the last one of four digits. */
const [MIN_YEAR, MAX_YEAR] = [100, 9_999]
const MAX_MOMENT = Date.UTC(MAX_YEAR + 1, 0, 1)

function timestamp(moment: number, words: ImportWords): string {
  const year = new Date(moment).getUTCFullYear()
  if (!(year >= MIN_YEAR && year <= MAX_YEAR)) throw new UnreadablePart(words.time_range(MIN_YEAR, MAX_YEAR))
  return iso(moment)
}

/** A time and some days as a moment, ms; times without a zone are in that of the caller. */
function momentOfTime(time: ICAL.Time, tzid: string | undefined, context: Context, days = 0): number {
  const { zones, ownZone, words } = context
  const { year, month, day, hour, minute, second } = time
  // Date.UTC takes years of two digits for those of the 20th century.
  const first = year < MIN_YEAR ? NaN : Date.UTC(year, month - 1, day, hour, minute, second)
  if (Number.isNaN(first) || year > MAX_YEAR) throw new UnreadablePart(words.year_range(year, MIN_YEAR, MAX_YEAR))
  const wall = first + days * DAY
  if (time.isDate || time.zone === ICAL.Timezone.utcTimezone || !(Math.abs(wall) < MAX_MOMENT)) return wall
  if (tzid === undefined) return momentOf(wall, ownZone)
  const name = zoneNamed(tzid)
  if (name !== undefined) return momentOf(wall, name)
  if (!zones.has(tzid)) throw new UnreadablePart(words.zone_unknown(printable(tzid)))
  const zone = zones.get(tzid)?.clock
  return zone ? wall - offsetAt(zone, wall) : momentOf(wall, ownZone)
}

const tzidOf = (property: ICAL.Property): string | undefined => property.getFirstParameter('tzid') || undefined

/** The hour of a time on the day of another one. */
function onDay(time: ICAL.Time, { year, month, day }: ICAL.Time): ICAL.Time {
  const moved = time.clone()
  Object.assign(moved, { year, month, day })
  return moved
}

/** The moments of all properties of a name; days of a series with hours are those of its occurrences. */
function datesOf(event: ICAL.Component, name: string, context: Context): string[] | null {
  const first = event.getFirstProperty('dtstart')
  const start: unknown = first?.getFirstValue()
  const momentOfDate = (time: ICAL.Time, property: ICAL.Property): number =>
    first && time.isDate && start instanceof ICAL.Time && !start.isDate
      ? momentOfTime(onDay(start, time), tzidOf(first), context)
      : momentOfTime(time, tzidOf(property), context)
  const found = event.getAllProperties(name).flatMap((property) =>
    property.getValues().flatMap((value: unknown) => {
      const time = value instanceof ICAL.Period ? value.start : value
      return time instanceof ICAL.Time ? [timestamp(momentOfDate(time, property), context.words)] : []
    }),
  )
  return found.length > 0 ? found : null
}

function endOf(event: ICAL.Component, start: ICAL.Time, at: number, context: Context): number | undefined {
  const end = event.getFirstProperty('dtend')
  const time: unknown = end?.getFirstValue()
  if (end && time instanceof ICAL.Time) return momentOfTime(time, tzidOf(end), context)
  const duration: unknown = event.getFirstPropertyValue('duration')
  if (duration instanceof ICAL.Duration) {
    // Days and weeks are those of the calendar, not of 24 hours (RFC 5545, 3.3.6).
    const days = (duration.isNegative ? -1 : 1) * (duration.days + 7 * duration.weeks)
    const rest = duration.toSeconds() * 1_000 - days * DAY
    return momentOfTime(start, tzidOf(event.getFirstProperty('dtstart')!), context, days) + rest
  }
  return start.isDate ? at + DAY : undefined
}

const textOf = (event: ICAL.Component, name: string): string | null => {
  const value: unknown = event.getFirstPropertyValue(name)
  return typeof value === 'string' ? value : null
}

/** As the columns of `svc_events`. */
const [MAX_TITLE, MAX_LOCATION, MAX_NOTE, MAX_UID] = [500, 2_000, 1_000_000, 500]

/** The texts of an event; what is longer than its column is kept in the column `ical`. */
function textsOf(event: ICAL.Component, words: ImportWords, notes: string[]) {
  const title = textOf(event, 'summary') ?? ''
  const location = textOf(event, 'location')
  if (title.length > MAX_TITLE) notes.push(words.name_cut(MAX_TITLE))
  if (location !== null && location.length > MAX_LOCATION)
    notes.push(words.must_be('location', words.text(MAX_LOCATION), `${shortened(location, 60)}…`))
  const note = textOf(event, 'description')
  return {
    title: shortened(title, MAX_TITLE),
    location: location === null ? null : shortened(location, MAX_LOCATION),
    note: note === null ? null : shortened(note, MAX_NOTE),
    uid: shortened(textOf(event, 'uid') ?? '', MAX_UID) || null,
  }
}

/** The zone by whose clock an event repeats; null for UTC. */
function zoneOf(tzid: string | undefined, from: number, rule: unknown, context: Context, notes: string[]) {
  const name = tzid === undefined ? undefined : zoneNamed(tzid)
  if (tzid === undefined || name !== undefined) return name ?? null
  const shown = printable(tzid)
  if (!context.zones.get(tzid)?.clock) {
    notes.push(context.words.zone_unreadable(shown, context.ownZone))
    return rule instanceof ICAL.Recur ? context.ownZone : null
  }
  if (!(rule instanceof ICAL.Recur)) return null
  const match = context.matchZone(tzid, from, rule.until?.year ?? from + 5)
  if (match === undefined) notes.push(context.words.zone_unlike(shown))
  return match ?? null
}

/** The columns of an event, without its original text, and what they do not have; undefined if it has no beginning. */
function valuesOf(event: ICAL.Component, context: Context): { values: Row; notes: string[] } | undefined {
  const property = event.getFirstProperty('dtstart')
  const start: unknown = property?.getFirstValue()
  if (!property || !(start instanceof ICAL.Time)) return undefined
  const notes: string[] = []
  const at = momentOfTime(start, tzidOf(property), context)
  const end = endOf(event, start, at, context)
  const tzid = tzidOf(property)
  const rules = event.getAllProperties('rrule')
  const rule: unknown = rules[0]?.getFirstValue()
  if (rules.length > 1) notes.push(context.words.several_rules(rules.length))
  if (event.getFirstProperty('exrule')) notes.push(context.words.exception_rule)
  const isFloating = start.zone === ICAL.Timezone.localTimezone && tzid === undefined
  const zone = isFloating ? context.ownZone : zoneOf(tzid, start.year, rule, context, notes)
  const [original] = datesOf(event, 'recurrence-id', context) ?? []
  const rdates = datesOf(event, 'rdate', context)
  const alarms = {
    start: at,
    end: end ?? at,
    isSeries: rule instanceof ICAL.Recur || rdates !== null,
    momentOf: (time: ICAL.Time) => momentOfTime(time, undefined, context),
    words: context.words,
  }
  const values = {
    ...textsOf(event, context.words, notes),
    starts_at: timestamp(at, context.words),
    ends_at: end === undefined || end < at ? null : timestamp(end, context.words),
    all_day: start.isDate,
    tzid: start.isDate ? null : zone,
    rrule: rule instanceof ICAL.Recur ? rule.toString() : null,
    rdates,
    exdates: datesOf(event, 'exdate', context),
    recurrence_id: original ?? null,
    reminders: remindersOf(event, alarms, notes),
  }
  return { values, notes }
}

/** The time zones that the times of an event name. */
export const zoneNamesOf = (event: ICAL.Component): Set<string> =>
  new Set(event.getAllProperties().flatMap((property) => tzidOf(property) ?? []))

/** Reads the text that the column `ical` has: the text of the event, its zones by name, and its columns. */
export function readKept(
  kept: string,
  ownZone: string,
): { event: ICAL.Component; text: string; zones: Zones; values: Row } | undefined {
  try {
    const body = linesOf(kept)
    const [text = ''] = partsOf(body, 'VEVENT')
    const event = new ICAL.Component(ICAL.parse(text) as unknown[])
    const context = contextOf(body, ownZone, importWords)
    const read = valuesOf(event, context)
    return read && { event, text, zones: context.zones, values: read.values }
  } catch {
    return undefined
  }
}

/** Reads the events of a file, each on its own, so that one that is damaged leaves the others alone. */
export function readIcs(text: string, ownZone: string, words = importWords): IcsEvent[] {
  const body = linesOf(text)
  const context = contextOf(body, ownZone, words)
  const lineOf = makeLineCounter(body)
  return [...componentsOf(body, 'VEVENT')].map(({ part: whole, from }, index) => {
    const where = words.event(index + 1, lineOf(from))
    const isLong = whole.length > MAX_EVENT
    const { text: part, attachments } = isLong ? withoutAttachments(whole) : { text: whole, attachments: 0 }
    const blank = { where, values: {}, notes: [], attachments, isCancelled: false, isForFollowing: false }
    const bad = (problem: string): IcsEvent => ({ ...blank, problems: [problem] })
    if (part.length > MAX_EVENT) return bad(words.too_long(MAX_EVENT))
    try {
      const event = new ICAL.Component(ICAL.parse(part) as unknown[])
      const zones = [...zoneNamesOf(event)].flatMap((name) => context.zones.get(name) ?? [])
      const ical = [...zones.map((zone) => zone.text), part].join('\n')
      if (ical.length > MAX_EVENT) return bad(words.too_long(MAX_EVENT))
      const read = valuesOf(event, context)
      if (!read) return bad(words.no_beginning)
      const isCancelled = String(event.getFirstPropertyValue('status')).toUpperCase() === 'CANCELLED'
      const range = event.getFirstProperty('recurrence-id')?.getFirstParameter('range')
      const isForFollowing = String(range).toUpperCase() === 'THISANDFUTURE'
      return {
        ...blank,
        values: { ...read.values, ical },
        problems: [],
        notes: read.notes,
        isCancelled,
        isForFollowing,
      }
    } catch (error) {
      return bad(words.unreadable((error as Error).message.slice(0, 200)))
    }
  })
}
