import { DAY } from '../../base/clock.ts'
import { today } from './local-day.ts'

// Days are `YYYY-MM-DD` in the browser's time zone, so that calculations do not depend on daylight saving time.

/** Noon exists on every day; midnight may not. */
export const noonOf = (day: string): Date => new Date(`${day}T12:00`)

/** The moment a number of minutes after midnight, by the clock. */
export function atMinute(day: string, minute: number): Date {
  const [year, month, date] = day.split('-').map(Number)
  return new Date(year!, month! - 1, date!, 0, minute)
}

/** How many days lie between two days; negative if the second comes first. */
export const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / DAY)

export function addDays(day: string, days: number): string {
  const [year, month, date] = day.split('-').map(Number)
  return today(new Date(year!, month! - 1, date! + days, 12))
}

/** The same day of another month, or its last day. */
export function addMonths(day: string, months: number): string {
  const [year, month, date] = day.split('-').map(Number)
  const last = new Date(year!, month! + months, 0, 12).getDate()
  return today(new Date(year!, month! - 1 + months, Math.min(date!, last), 12))
}

/** The first day of its week: Monday, or Sunday where weeks begin on Sunday. */
function weekStart(day: string, first: 0 | 1): string {
  return addDays(day, -((noonOf(day).getDay() - first + 7) % 7))
}

export const weekOf = (day: string, first: 0 | 1): string[] => {
  const start = weekStart(day, first)
  return Array.from({ length: 7 }, (_, index) => addDays(start, index))
}

/** The six weeks that contain its month. */
export const monthOf = (day: string, first: 0 | 1): string[][] => {
  const start = weekStart(`${day.slice(0, 8)}01`, first)
  return Array.from({ length: 6 }, (_, index) => weekOf(addDays(start, index * 7), first))
}

/** The value of a `datetime-local` input: `2026-11-22T14:03` in the browser's time zone. */
export function toLocalInput(moment: string): string {
  const date = new Date(moment)
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
  return `${today(date)}T${time}`
}
