import { parseDuration } from '../base/durations.ts'
import { usage } from './exit.ts'

/** Formats a time in ms since 1970 as `2026-11-21 15:00` in the local time zone, optionally with seconds. */
export function formatTime(ms: number, withSeconds = false): string {
  const time = new Date(ms)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  const seconds = withSeconds ? `:${two(time.getSeconds())}` : ''
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}${seconds}`
}

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/i

/** Times that ISO 8601 writes with four-digit years, ms since 1970. */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/**
 * Parses a time; ms since 1970. `30m` is a duration after or before `now`, `15:00` the next or last such time of day, and
 * anything else an ISO 8601 date with or without a time. Times without a zone are local. Undefined for any other text. Throws
 * a usage error outside the years 1 to 9999.
 */
export function parseTime(text: string, now: number, direction: 'ahead' | 'back'): number | undefined {
  const time = readTime(text.trim(), now, direction === 'ahead' ? 1 : -1)
  if (time !== undefined && (time < FIRST || time > LAST)) throw usage(`"${text}" is outside the years 1 to 9999.`)
  return time
}

function readTime(trimmed: string, now: number, sign: number): number | undefined {
  const duration = /^\d+$/.test(trimmed) ? undefined : parseDuration(trimmed)
  if (duration !== undefined) return now + sign * duration
  const time = TIME_OF_DAY.exec(trimmed)
  if (time) return timeOfDay([Number(time[1]), Number(time[2]), Number(time[3] ?? 0)], now, sign)
  return parseDate(trimmed)
}

function timeOfDay(
  [hours, minutes, seconds]: readonly [number, number, number],
  now: number,
  sign: number,
): number | undefined {
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  const at = new Date(now)
  at.setHours(hours, minutes, seconds, 0)
  // By the calendar: days with a clock change do not have 24 hours.
  if (sign > 0 ? at.getTime() <= now : at.getTime() > now) at.setDate(at.getDate() + sign)
  return at.getTime()
}

function parseDate(text: string): number | undefined {
  const match = DATE.exec(text)
  if (!match) return undefined
  const [year, month, day, hours = 0, minutes = 0, seconds = 0] = match.slice(1, 7).map((part) => Number(part ?? 0))
  const exists = month! >= 1 && month! <= 12 && day! >= 1 && day! <= new Date(year!, month!, 0).getDate()
  if (!exists || hours > 23 || minutes > 59 || seconds > 59) return undefined
  // A date without a time would be parsed as UTC.
  const withTime = match[4] === undefined ? `${text}T00:00` : text
  return Date.parse(withTime.replace(' ', 'T').toUpperCase())
}
