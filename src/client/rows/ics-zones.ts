import ICAL from 'ical.js'
import { DAY, HOUR } from '../../base/clock.ts'
import { commonZones, zoneOfWindows } from '../../base/windows-zones.ts'
import { isZone, momentOf } from '../../base/zoned-time.ts'

/** Zones that a file defines, by name; undefined for those that are not read. */
export type Zones = ReadonlyMap<string, { text: string; zone: ICAL.Timezone } | undefined>

/** Most characters of a zone. */
const MAX_ZONE = 20_000

/** The rules by which zones change; any other can keep the parser busy for hours. */
const CHANGE =
  /^RRULE:(?:FREQ=YEARLY|BYMONTH=\d{1,2}|BYDAY=[-+]?\d(?:SU|MO|TU|WE|TH|FR|SA)|UNTIL=\d{8}T\d{6}Z|INTERVAL=1|WKST=\w\w|;)+$/

const isHarmless = (zone: string): boolean =>
  zone.length <= MAX_ZONE &&
  (zone.match(/^(?:RRULE|EXRULE)[^]*?$(?!\n[ \t])/gim) ?? []).every((rule) => CHANGE.test(rule))

/** Reads the texts of zones. */
export function zonesOf(parts: Iterable<string>): Zones {
  const zones = new Map<string, { text: string; zone: ICAL.Timezone } | undefined>()
  for (const part of parts) {
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

/** The name by which the platform knows a zone. Some programs write a path before it, others the name that Windows has. */
export const zoneNamed = (tzid: string): string | undefined =>
  [tzid, /\/([A-Z]\w+\/[\w+-]+(?:\/[\w+-]+)?)$/.exec(tzid)?.[1], zoneOfWindows(tzid)].find(
    (name) => name !== undefined && isZone(name),
  )

/** Offset of a zone of a file at a time of its clock, ms. */
export const offsetAt = (zone: ICAL.Timezone, wall: number): number =>
  zone.utcOffset(ICAL.Time.fromJSDate(new Date(wall), true)) * 1_000

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
    const zone = zones.get(tzid)?.zone
    if (zone && !known.has(key) && known.size < MAX_MATCHES) known.set(key, matchOf(zone, from, years, ownZone))
    return known.get(key)
  }
}
