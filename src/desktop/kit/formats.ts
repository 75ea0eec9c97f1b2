import { language } from './language.ts'

const locale = (): string =>
  language.value === 'de' ? 'de' : navigator.language.startsWith('en') ? navigator.language : 'en'

const formatters = new Map<string, Intl.DateTimeFormat>()

function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale() + JSON.stringify(options)
  const format = formatters.get(key) ?? new Intl.DateTimeFormat(locale(), options)
  formatters.set(key, format)
  return format
}

type Timestamp = string | number | Date

/** `22 Nov 2026`. */
export const formatDate = (timestamp: Timestamp): string =>
  dateFormat({ dateStyle: 'medium' }).format(new Date(timestamp))

/** `Sunday, 22 November 2026`. */
export const formatFullDate = (timestamp: Timestamp): string =>
  dateFormat({ dateStyle: 'full' }).format(new Date(timestamp))

/** `14:03`. */
export const formatTime = (timestamp: Timestamp): string =>
  dateFormat({ timeStyle: 'short' }).format(new Date(timestamp))

export const formatDateTime = (timestamp: Timestamp): string =>
  dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(timestamp))

/** `Sunday, 22 November`, or `Sun, 22 Nov`. */
export const formatDay = (timestamp: Timestamp, style: 'long' | 'short' = 'long'): string =>
  dateFormat({ weekday: style, day: 'numeric', month: style }).format(new Date(timestamp))

/** The same, with the year if it is not the current one. */
export const formatDayInYear = (timestamp: Timestamp, now = new Date()): string =>
  new Date(timestamp).getFullYear() === now.getFullYear()
    ? formatDay(timestamp)
    : dateFormat({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }).format(new Date(timestamp))

/** `Sun`, or `Sunday`. */
export const formatWeekday = (timestamp: Timestamp, style: 'long' | 'short' = 'short'): string =>
  dateFormat({ weekday: style }).format(new Date(timestamp))

/** Time for today, weekday for the last week, otherwise the date. */
export function formatWhen(timestamp: Timestamp, now = new Date()): string {
  const date = new Date(timestamp)
  const days = (now.getTime() - date.getTime()) / 86_400_000
  if (date.toDateString() === now.toDateString()) return formatTime(date)
  if (days > 0 && days < 6) return formatWeekday(date)
  const sameYear = date.getFullYear() === now.getFullYear()
  return sameYear ? dateFormat({ day: 'numeric', month: 'short' }).format(date) : formatDate(date)
}

const order = { numeric: true }
const collators = { en: new Intl.Collator('en', order), de: new Intl.Collator('de', order) }

/** Compares names for a list: `file 2` comes before `file 10`. */
export const compareNames = (a: string, b: string): number => collators[language.value].compare(a, b)

/** The different names among some, in order; empty ones are left out. */
export const distinctNames = (names: Iterable<string | null>): string[] =>
  [...new Set(names)].filter((name): name is string => name !== null && name !== '').toSorted(compareNames)

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(locale(), options).format(value)

/** An amount in hundredths of its currency. */
export const formatMoney = (cents: number, currency: string): string =>
  formatNumber(cents / 100, { style: 'currency', currency })

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']

/** Binary units: `1.5 GB` is 1.5 × 1024³ bytes. */
export function formatSize(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024
    unit++
  }
  return `${formatNumber(value, { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${UNITS[unit]}`
}
