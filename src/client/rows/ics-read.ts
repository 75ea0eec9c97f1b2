import ICAL from 'ical.js'
import { HOUR, iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import { momentOf } from '../../base/zoned-time.ts'
import { componentsOf, linesOf, makeLineCounter, partsOf } from './content-lines.ts'
import { remindersOf } from './ics-alarms.ts'
import { makeZoneMatcher, offsetAt, zoneNamed, zonesOf, type Zones } from './ics-zones.ts'
import { importWords, UnreadablePart, type ImportWords } from './import-words.ts'
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

function timestamp(moment: number, words: ImportWords): string {
  const year = new Date(moment).getUTCFullYear()
  if (!(year >= MIN_YEAR && year <= MAX_YEAR)) throw new UnreadablePart(words.time_range(MIN_YEAR, MAX_YEAR))
  return iso(moment)
}

/** A time as a moment, ms; times without a zone are in that of the caller. */
function momentOfTime(time: ICAL.Time, tzid: string | undefined, { zones, ownZone, words }: Context): number {
  const { year, month, day, hour, minute, second } = time
  // Date.UTC takes years of two digits for those of the 20th century.
  const wall = year < MIN_YEAR ? NaN : Date.UTC(year, month - 1, day, hour, minute, second)
  if (Number.isNaN(wall) || year > MAX_YEAR) throw new UnreadablePart(words.year_range(year, MIN_YEAR, MAX_YEAR))
  if (time.isDate || time.zone === ICAL.Timezone.utcTimezone) return wall
  if (tzid === undefined) return momentOf(wall, ownZone)
  const name = zoneNamed(tzid)
  if (name !== undefined) return momentOf(wall, name)
  if (!zones.has(tzid)) throw new UnreadablePart(words.zone_unknown(printable(tzid)))
  const zone = zones.get(tzid)?.clock
  return zone ? wall - offsetAt(zone, wall) : momentOf(wall, ownZone)
}

const tzidOf = (property: ICAL.Property): string | undefined => property.getFirstParameter('tzid') || undefined

/** The moments of all properties of a name. */
function datesOf(event: ICAL.Component, name: string, context: Context): string[] | null {
  const found = event.getAllProperties(name).flatMap((property) =>
    property.getValues().flatMap((value: unknown) => {
      const time = value instanceof ICAL.Period ? value.start : value
      return time instanceof ICAL.Time ? [timestamp(momentOfTime(time, tzidOf(property), context), context.words)] : []
    }),
  )
  return found.length > 0 ? found : null
}

function endOf(event: ICAL.Component, start: ICAL.Time, at: number, context: Context): number | undefined {
  const end = event.getFirstProperty('dtend')
  const time: unknown = end?.getFirstValue()
  if (end && time instanceof ICAL.Time) return momentOfTime(time, tzidOf(end), context)
  const duration: unknown = event.getFirstPropertyValue('duration')
  if (duration instanceof ICAL.Duration) return at + duration.toSeconds() * 1_000
  return start.isDate ? at + 24 * HOUR : undefined
}

const textOf = (event: ICAL.Component, name: string, max: number): string | null => {
  const value: unknown = event.getFirstPropertyValue(name)
  return typeof value === 'string' ? value.slice(0, max) : null
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
    title: textOf(event, 'summary', 500) ?? '',
    starts_at: timestamp(at, context.words),
    ends_at: end === undefined || end < at ? null : timestamp(end, context.words),
    all_day: start.isDate,
    location: textOf(event, 'location', 2_000),
    note: textOf(event, 'description', 1_000_000),
    uid: textOf(event, 'uid', 500) || null,
    tzid: start.isDate ? null : zone,
    rrule: rule instanceof ICAL.Recur ? rule.toString().slice(0, 1_000) : null,
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
  return [...componentsOf(body, 'VEVENT')].map(({ part, from }, index) => {
    const where = words.event(index + 1, lineOf(from))
    const blank = { where, values: {}, notes: [], isCancelled: false, isForFollowing: false }
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
