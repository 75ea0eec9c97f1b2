import { DAY } from './clock.ts'

// The clock of a time zone. "Wall" times are milliseconds as if the clock showed UTC.

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

/** A wall time as in iCalendar, `20261126T140507` (RFC 5545, 3.3.5). */
export const basicTime = (wall: number): string => new Date(wall).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')

/** Whether the platform knows a time zone by this name. */
export function isZone(zone: string): boolean {
  try {
    return formatOf(zone) !== undefined
  } catch {
    return false
  }
}

/** What the clock of a zone shows at a moment, ms. */
export function wallOf(moment: number, zone: string): number {
  if (zone === 'UTC') return moment
  const parts: Record<string, string> = {}
  for (const { type, value } of formatOf(zone).formatToParts(moment)) parts[type] = value
  const of = (name: string): number => Number(parts[name])
  const year = parts['era'] === 'BC' ? 1 - of('year') : of('year')
  const wall = new Date(0)
  wall.setUTCFullYear(year, of('month') - 1, of('day'))
  wall.setUTCHours(of('hour'), of('minute'), of('second'), ((moment % 1_000) + 1_000) % 1_000)
  return wall.getTime()
}

/**
 * The moment when the clock of a zone shows a time. A time that daylight saving skips is counted with the offset from
 * before the change, and of a time that occurs twice the first is taken (RFC 5545, 3.3.5).
 */
export function momentOf(wall: number, zone: string): number {
  if (zone === 'UTC') return wall
  const offsetAt = (moment: number): number => wallOf(moment, zone) - moment
  const early = wall - offsetAt(wall - DAY)
  if (wallOf(early, zone) === wall) return early
  const late = wall - offsetAt(wall + DAY)
  return wallOf(late, zone) === wall ? late : early
}

/** The same, but a time that daylight saving skips is the moment when the clock jumps. */
export function momentAtClock(wall: number, zone: string): number {
  const moment = momentOf(wall, zone)
  const skipped = wallOf(moment, zone) - wall
  if (skipped <= 0) return moment
  const offsetAt = (at: number): number => wallOf(at, zone) - at
  const after = offsetAt(moment)
  let [before, jump] = [moment - skipped, moment]
  while (jump - before > 1) {
    const middle = Math.floor((before + jump) / 2)
    if (offsetAt(middle) === after) jump = middle
    else before = middle
  }
  return jump
}
