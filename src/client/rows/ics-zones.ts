import ICAL from 'ical.js'
import { DAY, HOUR } from '../../base/clock.ts'
import { commonZones, zoneOfWindows } from '../../base/windows-zones.ts'
import { isZone, momentOf } from '../../base/zoned-time.ts'

/** A zone that a file defines. */
export interface FileZone {
  text: string
  /** Undefined if it has no changes, or the zones of the file have too many. */
  readonly clock: ICAL.Timezone | undefined
}

/** Zones by their names; undefined for those that are not read. */
export type Zones = ReadonlyMap<string, FileZone | undefined>

/** Most characters of a zone, and most rules of the zones of a file. */
const MAX_ZONE = 20_000
const MAX_RULES = 100

/** The rules by which zones change; any other, or one from the first centuries, can keep the parser busy for hours. */
const CHANGE =
  /^FREQ=YEARLY(?:;BYMONTH=(?:[1-9]|1[0-2])|;BYDAY=[-+]?[1-5](?:SU|MO|TU|WE|TH|FR|SA)|;UNTIL=\d{8}(?:T\d{6}Z?)?|;WKST=\w\w)*$/
const MIN_START = 1_600

/** From this year on, the clock of another one with the same days is taken. */
const FIRST_REPEATED = 2_100

const rulesOf = (part: ICAL.Component): string[] =>
  part.getAllProperties('rrule').map((property) => String(property.getFirstValue()))

function isHarmless(part: ICAL.Component): boolean {
  const rules = rulesOf(part)
  const start: unknown = part.getFirstPropertyValue('dtstart')
  return (
    rules.length === 0 ||
    (start instanceof ICAL.Time && start.year >= MIN_START && rules.every((rule) => CHANGE.test(rule)))
  )
}

/** Adds all changes of a zone at once: the parser would add them again with each later year. */
function clockOf(component: ICAL.Component): ICAL.Timezone | undefined {
  try {
    const zone = new ICAL.Timezone(component)
    zone.utcOffset(ICAL.Time.fromJSDate(new Date(Date.UTC(FIRST_REPEATED, 0, 1)), true))
    return (zone as unknown as { changes: unknown[] }).changes.length > 0 ? zone : undefined
  } catch {
    // A zone that cannot be read is as good as none.
    return undefined
  }
}

function parseZone(text: string): ICAL.Component | undefined {
  try {
    return new ICAL.Component(ICAL.parse(text) as unknown[])
  } catch {
    return undefined
  }
}

const nameOf = (text: string, component: ICAL.Component | undefined): string | undefined => {
  const name: unknown = component?.getFirstPropertyValue('tzid')
  return typeof name === 'string' ? name : /^TZID(?:;[^:\n]*)?:(.+)$/im.exec(text.replaceAll(/\n[ \t]/g, ''))?.[1]
}

/** Reads the texts of zones; the changes of a zone when its clock is first used. */
export function zonesOf(parts: Iterable<string>): Zones {
  const zones = new Map<string, FileZone | undefined>()
  let rules = 0
  for (const text of parts) {
    const component = parseZone(text)
    const name = nameOf(text, component)
    if (name === undefined) continue
    const changes = component?.getAllSubcomponents() ?? []
    const isRead = component && text.length <= MAX_ZONE && changes.every(isHarmless)
    const clock = lazy(() => {
      rules += changes.flatMap(rulesOf).length
      return isRead && rules <= MAX_RULES ? clockOf(component) : undefined
    })
    zones.set(
      name,
      isRead
        ? {
            text,
            get clock() {
              return clock()
            },
          }
        : undefined,
    )
  }
  return zones
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** The name by which the platform knows a zone. Some programs write a path before it, others the name that Windows has. */
export const zoneNamed = (tzid: string): string | undefined =>
  [tzid, /\/([A-Z]\w+\/[\w+-]+(?:\/[\w+-]+)?)$/.exec(tzid)?.[1], zoneOfWindows(tzid)].find(
    (name) => name !== undefined && isZone(name),
  )

/** A year before `FIRST_REPEATED` with the same days; 28 years in a row have all kinds of them. */
function sameYear(year: number): number {
  if (!(year >= FIRST_REPEATED)) return year
  const daysOf = (one: number): string =>
    `${new Date(Date.UTC(one, 0, 1)).getUTCDay()} ${new Date(Date.UTC(one, 1, 29)).getUTCDate()}`
  let same = FIRST_REPEATED - 1
  while (daysOf(same) !== daysOf(year)) same--
  return same
}

/** Offset of a zone of a file at a time of its clock, ms. */
export function offsetAt(zone: ICAL.Timezone, wall: number): number {
  const time = ICAL.Time.fromJSDate(new Date(wall), true)
  time.year = sameYear(time.year)
  return zone.utcOffset(time) * 1_000
}

/** Most years in which zones are compared, and most comparisons of a file. */
const MAX_YEARS = 10
const MAX_MATCHES = 200

/** Times of the clock that tell a zone from others: the middle of each month, and just before and after each change. */
function samplesOf(zone: ICAL.Timezone, from: number, years: number): number[] {
  const samples: number[] = []
  const first = Date.UTC(from, 0, 1)
  for (let day = first; day < Date.UTC(from + years, 0, 1); day += DAY) {
    if (new Date(day).getUTCDate() === 15) samples.push(day)
    if (offsetAt(zone, day) === offsetAt(zone, day + DAY)) continue
    let change = day
    while (offsetAt(zone, change) === offsetAt(zone, day)) change += HOUR
    samples.push(change - 3 * HOUR, change + 3 * HOUR)
  }
  return samples
}

function fixedZone(offset: number): string | undefined {
  if (offset % HOUR !== 0) return undefined
  const hours = -offset / HOUR
  return hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '+' : ''}${hours}`
}

function matchOf(zone: ICAL.Timezone, from: number, years: number, ownZone: string): string | undefined {
  const samples = samplesOf(zone, from, years).map((wall) => ({ wall, offset: offsetAt(zone, wall) }))
  const fixed = samples.every(({ offset }) => offset === samples[0]!.offset) ? fixedZone(samples[0]!.offset) : undefined
  if (fixed !== undefined && isZone(fixed)) return fixed
  const names = new Set([ownZone, ...commonZones, ...Intl.supportedValuesOf('timeZone')])
  for (const name of names)
    if (isZone(name) && samples.every(({ wall, offset }) => momentOf(wall, name) === wall - offset)) return name
  return undefined
}

/** Finds the zones whose clocks show what zones of a file say, over the years of a series. */
export function makeZoneMatcher(zones: Zones, ownZone: string) {
  const known = new Map<string, string | undefined>()
  return (tzid: string, from: number, to: number): string | undefined => {
    const years = Math.min(Math.max(to - from, 1) + 1, MAX_YEARS)
    const key = JSON.stringify([tzid, from, years])
    const zone = zones.get(tzid)?.clock
    if (zone && !known.has(key) && known.size < MAX_MATCHES) known.set(key, matchOf(zone, from, years, ownZone))
    return known.get(key)
  }
}
