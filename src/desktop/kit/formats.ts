import { language } from './language.ts'

const locale = (): string =>
  language.value === 'de' ? 'de' : navigator.language.startsWith('en') ? navigator.language : 'en'

const made = new Map<string, Intl.DateTimeFormat>()

function dates(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale() + JSON.stringify(options)
  const format = made.get(key) ?? new Intl.DateTimeFormat(locale(), options)
  made.set(key, format)
  return format
}

type Moment = string | number | Date

/** `22 Nov 2026`; takes ISO 8601 texts, milliseconds and dates. */
export const formatDate = (moment: Moment): string => dates({ dateStyle: 'medium' }).format(new Date(moment))

/** `14:03`. */
export const formatTime = (moment: Moment): string => dates({ timeStyle: 'short' }).format(new Date(moment))

export const formatDateTime = (moment: Moment): string =>
  dates({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(moment))

/** `Sunday, 22 November`. */
export const formatDay = (moment: Moment): string =>
  dates({ weekday: 'long', day: 'numeric', month: 'long' }).format(new Date(moment))

/** The time of today, the weekday of this week, the date of everything else. */
export function formatWhen(moment: Moment, now = new Date()): string {
  const date = new Date(moment)
  const days = (now.getTime() - date.getTime()) / 86_400_000
  if (date.toDateString() === now.toDateString()) return formatTime(date)
  if (days > 0 && days < 6) return dates({ weekday: 'short' }).format(date)
  const sameYear = date.getFullYear() === now.getFullYear()
  return sameYear ? dates({ day: 'numeric', month: 'short' }).format(date) : formatDate(date)
}

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(locale(), options).format(value)

/** An amount in the smallest unit of its currency, with two places as the tables keep them. */
export const formatMoney = (cents: number, currency: string): string =>
  formatNumber(cents / 100, { style: 'currency', currency })

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']

/** Bytes as people read them: binary steps, `1.5 GB` is 1.5 × 1024³. */
export function formatSize(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024
    unit++
  }
  return `${formatNumber(value, { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${UNITS[unit]}`
}

/** `today` in the time zone of the browser, `YYYY-MM-DD`. */
export function today(now = new Date()): string {
  const month = String(now.getMonth() + 1).padStart(2, '0')
  return `${now.getFullYear()}-${month}-${String(now.getDate()).padStart(2, '0')}`
}
