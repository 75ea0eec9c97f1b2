import { parseDuration } from '../base/durations.ts'

const TIME = /^(\d{1,2}):(\d{2})$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/i

/**
 * The moment a text means, epoch ms: a duration from now (`30m`) or before it, the next or the last time of day (`15:00`,
 * in the zone of this machine), or a date with or without a time (ISO 8601, local where it names no zone). Undefined when
 * it is none of these.
 */
export function parseWhen(text: string, now: number, direction: 'ahead' | 'back'): number | undefined {
  const sign = direction === 'ahead' ? 1 : -1
  const trimmed = text.trim()
  const duration = /^\d+$/.test(trimmed) ? undefined : parseDuration(trimmed)
  if (duration !== undefined) return now + sign * duration
  const time = TIME.exec(trimmed)
  if (time) return timeOfDay(Number(time[1]), Number(time[2]), now, sign)
  return date(trimmed)
}

function timeOfDay(hours: number, minutes: number, now: number, sign: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined
  const at = new Date(now)
  at.setHours(hours, minutes, 0, 0)
  // By the calendar, not by 24 hours: days on which the clock is changed are longer or shorter.
  if (sign > 0 ? at.getTime() <= now : at.getTime() > now) at.setDate(at.getDate() + sign)
  return at.getTime()
}

function date(text: string): number | undefined {
  const match = DATE.exec(text)
  if (!match) return undefined
  const [year, month, day, hours = 0, minutes = 0, seconds = 0] = match.slice(1, 7).map((part) => Number(part ?? 0))
  const exists = month! >= 1 && month! <= 12 && day! >= 1 && day! <= new Date(year!, month!, 0).getDate()
  if (!exists || hours > 23 || minutes > 59 || seconds > 59) return undefined
  if (match[7]) return Date.parse(text.replace(' ', 'T').toUpperCase())
  return new Date(year!, month! - 1, day, hours, minutes, seconds).getTime()
}
