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

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d{1,3})?))?$/
const YESTERDAY = /^yesterday +(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)$/i
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/i

/** Times that ISO 8601 writes with four-digit years, ms since 1970. */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/**
 * Parses a time; ms since 1970. `30m` is a duration after or before `now`, `15:00` the next or last such time of day,
 * `yesterday 15:00` the one of the day before today, and anything else an ISO 8601 date with or without a time. Times
 * without a zone are local. Undefined for any other text. Throws a usage error outside the years 1 to 9999.
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
  if (time) return timeOfDay(partsOf(time), now, sign)
  const yesterday = TIME_OF_DAY.exec(YESTERDAY.exec(trimmed)?.[1] ?? '')
  return yesterday ? timeOn(-1, partsOf(yesterday), now) : parseDate(trimmed)
}

type Time = readonly [hours: number, minutes: number, seconds: number]

const partsOf = ([, hours, minutes, seconds = '0']: readonly string[]): Time => [
  Number(hours),
  Number(minutes),
  Number(seconds),
]

/** A time of the day that is `days` after today; undefined if no day has it. */
function timeOn(days: number, [hours, minutes, seconds]: Time, now: number): number | undefined {
  if (hours > 23 || minutes > 59 || seconds >= 60) return undefined
  const at = new Date(now)
  at.setHours(hours, minutes, Math.floor(seconds), Math.round((seconds % 1) * 1_000))
  // By the calendar: days with a clock change do not have 24 hours.
  at.setDate(at.getDate() + days)
  return at.getTime()
}

function timeOfDay(time: Time, now: number, sign: number): number | undefined {
  const today = timeOn(0, time, now)
  if (today === undefined) return undefined
  return (sign > 0 ? today > now : today <= now) ? today : timeOn(sign, time, now)
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
