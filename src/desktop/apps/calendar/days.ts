import { today } from '../../kit/formats.ts'

// Days are `YYYY-MM-DD` in the time zone of the browser, so that no computation with them depends on daylight saving time.

/** Noon of a day, which every time zone has. */
export const noonOf = (day: string): Date => new Date(`${day}T12:00`)

export function addDays(day: string, days: number): string {
  const [year, month, date] = day.split('-').map(Number)
  return today(new Date(year!, month! - 1, date! + days, 12))
}

/** The same day of another month, or the last one of it. */
export function addMonths(day: string, months: number): string {
  const [year, month, date] = day.split('-').map(Number)
  const last = new Date(year!, month! + months, 0, 12).getDate()
  return today(new Date(year!, month! - 1 + months, Math.min(date!, last), 12))
}

/** The Monday of its week, or where weeks begin on Sunday, the Sunday. */
function weekStart(day: string, first: 0 | 1): string {
  return addDays(day, -((noonOf(day).getDay() - first + 7) % 7))
}

/** Seven days from the beginning of its week. */
export const weekOf = (day: string, first: 0 | 1): string[] => {
  const start = weekStart(day, first)
  return Array.from({ length: 7 }, (_, index) => addDays(start, index))
}

/** Six weeks that hold all of its month. */
export const monthOf = (day: string, first: 0 | 1): string[][] => {
  const start = weekStart(`${day.slice(0, 8)}01`, first)
  return Array.from({ length: 6 }, (_, index) => weekOf(addDays(start, index * 7), first))
}

/** What a field for day and time shows of a moment: `2026-11-22T14:03`, here. */
export function toLocalInput(moment: string): string {
  const date = new Date(moment)
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
  return `${today(date)}T${time}`
}
