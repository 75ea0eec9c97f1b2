import { DAY } from '../../../base/clock.ts'
import { basicTime } from '../../../base/zoned-time.ts'

// Recurrence rules as the editor knows them (RFC 5545, 3.3.10). Days are `YYYY-MM-DD` in the zone of the series.

export const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const
export type Weekday = (typeof WEEKDAYS)[number]

export const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'MONTHLY_WEEKDAY', 'YEARLY'] as const
/** `MONTHLY_WEEKDAY` is the same weekday of every month, such as the second Friday. */
export type Frequency = (typeof frequencies)[number]

export interface Rule {
  frequency: Frequency
  interval: number
  /** With `WEEKLY`. */
  weekdays: readonly Weekday[]
  /** Number of occurrences. */
  count?: number | undefined
  /** The last day. */
  until?: string | undefined
}

export const weekdayOf = (day: string): Weekday => WEEKDAYS[new Date(`${day}T00:00Z`).getUTCDay()]!

/** Which one of its weekday a day is in its month: 1 to 4, or -1 for the last. */
export function ordinalOf(day: string): number {
  const date = Number(day.slice(8))
  return date > 28 ? -1 : Math.ceil(date / 7)
}

type Parts = ReadonlyMap<string, string>

const partsOf = (text: string): Parts =>
  new Map(text.split(';').map((part) => part.toUpperCase().split('=', 2) as [string, string]))

const textOf = (parts: Parts): string => [...parts].map(([name, value]) => `${name}=${value}`).join(';')

const nthWeekday = (day: string): string => `${ordinalOf(day)}${weekdayOf(day)}`

/** Day of an `UNTIL`, which is a date or a time in UTC; `toDay` converts the latter. */
function untilOf(text: string, toDay: (moment: string) => string): string | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?$/.exec(text)
  if (!match) return undefined
  const [, year, month, date, hour, minute, second] = match
  const day = `${year}-${month}-${date}`
  return hour === undefined ? day : toDay(`${day}T${hour}:${minute}:${second}Z`)
}

function frequencyOf(parts: Parts, first: string): Frequency | undefined {
  const [frequency, byDay] = [parts.get('FREQ'), parts.get('BYDAY')]
  const isOwn = (name: string, value: string): boolean => (parts.get(name) ?? value) === value
  if (!isOwn('BYMONTHDAY', `${Number(first.slice(8))}`) || !isOwn('BYMONTH', `${Number(first.slice(5, 7))}`)) {
    return undefined
  }
  if (frequency === 'WEEKLY' && !parts.has('BYMONTHDAY') && !parts.has('BYMONTH')) return 'WEEKLY'
  if (frequency === 'MONTHLY' && !parts.has('BYMONTH')) {
    if (byDay === undefined) return 'MONTHLY'
    const isOwnWeekday = byDay === nthWeekday(first) || byDay === `+${nthWeekday(first)}`
    return isOwnWeekday && !parts.has('BYMONTHDAY') ? 'MONTHLY_WEEKDAY' : undefined
  }
  if (byDay !== undefined) return undefined
  if (frequency === 'DAILY' && !parts.has('BYMONTHDAY') && !parts.has('BYMONTH')) return 'DAILY'
  return frequency === 'YEARLY' && parts.has('BYMONTH') === parts.has('BYMONTHDAY') ? 'YEARLY' : undefined
}

const known = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'BYMONTHDAY', 'BYMONTH', 'WKST']
const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined

/** A rule with the first day of its series; undefined if it has more than the editor can show. */
export function readRule(text: string, first: string, toDay: (moment: string) => string): Rule | undefined {
  const parts = partsOf(text)
  const frequency = frequencyOf(parts, first)
  const interval = wholeNumber(parts.get('INTERVAL') ?? '1')
  const count = wholeNumber(parts.get('COUNT'))
  const until = parts.has('UNTIL') ? untilOf(parts.get('UNTIL')!, toDay) : undefined
  const byDay = parts.get('BYDAY')?.split(',') ?? [weekdayOf(first)]
  if ([...parts.keys()].some((name) => !known.includes(name)) || !frequency || !interval) return undefined
  if (parts.has('COUNT') !== (count !== undefined) || parts.has('UNTIL') !== (until !== undefined)) return undefined
  const weekdays = frequency === 'WEEKLY' ? WEEKDAYS.filter((day) => byDay.includes(day)) : []
  if (frequency === 'WEEKLY' && weekdays.length !== new Set(byDay).size) return undefined
  return { frequency, interval, weekdays, count, until }
}

/** The end of a rule: of all-day series a date, otherwise a moment in UTC (RFC 5545, 3.3.10). */
const untilText = (moment: number, isAllDay: boolean): string => {
  const text = basicTime(moment)
  return isAllDay ? text.slice(0, 8) : `${text}Z`
}

/** The text of a rule; `endOf` is the last moment of a day in the zone of the series. */
export function writeRule(rule: Rule, first: string, isAllDay: boolean, endOf: (day: string) => number): string {
  const { frequency, interval, weekdays, count, until } = rule
  const parts = new Map<string, string>([['FREQ', frequency === 'MONTHLY_WEEKDAY' ? 'MONTHLY' : frequency]])
  if (interval > 1) parts.set('INTERVAL', `${interval}`)
  // What follows from the first day is left out, so that the rule stays right when the series is moved.
  const isOwnWeekday = weekdays.length === 0 || (weekdays.length === 1 && weekdays[0] === weekdayOf(first))
  if (frequency === 'WEEKLY' && !isOwnWeekday) parts.set('BYDAY', weekdays.join(','))
  if (frequency === 'MONTHLY_WEEKDAY') parts.set('BYDAY', nthWeekday(first))
  if (count !== undefined) parts.set('COUNT', `${count}`)
  else if (until !== undefined) parts.set('UNTIL', untilText(endOf(until), isAllDay))
  return textOf(parts)
}

/** The rule with its end before a moment. */
export function endedRule(text: string, before: number, isAllDay: boolean): string {
  const parts = new Map(partsOf(text))
  parts.delete('COUNT')
  parts.set('UNTIL', untilText(before - 1_000, isAllDay))
  return textOf(parts)
}

/** The rule without its first occurrences. */
export function restOfRule(text: string, count: number): string {
  const parts = new Map(partsOf(text))
  const all = wholeNumber(parts.get('COUNT'))
  if (all !== undefined) parts.set('COUNT', `${Math.max(1, all - count)}`)
  return textOf(parts)
}

export const isCounted = (text: string): boolean => partsOf(text).has('COUNT')

/** The rule after the first occurrence was moved to another day: parts that named its old day name the new one. */
export function movedRule(text: string, from: string, to: string): string {
  const parts = new Map(partsOf(text))
  const [frequency, byDay] = [parts.get('FREQ'), parts.get('BYDAY')]
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY)
  if (frequency === 'WEEKLY' && byDay !== undefined) {
    const moved = byDay.split(',').map((day) => {
      const index = WEEKDAYS.indexOf(day as Weekday)
      return index === -1 ? day : WEEKDAYS[(((index + days) % 7) + 7) % 7]!
    })
    parts.set('BYDAY', moved.join(','))
  } else if (byDay === nthWeekday(from) || byDay === `+${nthWeekday(from)}`) parts.set('BYDAY', nthWeekday(to))
  const replace = (name: string, start: number, end?: number): void => {
    if (parts.get(name) === `${Number(from.slice(start, end))}`) parts.set(name, `${Number(to.slice(start, end))}`)
  }
  replace('BYMONTHDAY', 8)
  replace('BYMONTH', 5, 7)
  return textOf(parts)
}

interface EndMove {
  /** Whether the moved series is one of whole days. */
  isAllDay: boolean
  /** The last moment of a day in the zone of the series. */
  endOf: (day: string) => number
  move: (lastMoment: number) => number
}

/** The rule with its `UNTIL` moved. One without a valid `UNTIL` stays. */
export function withMovedEnd(text: string, { isAllDay, endOf, move }: EndMove): string {
  const parts = new Map(partsOf(text))
  const until = untilOf(parts.get('UNTIL') ?? '', (moment) => moment)
  if (until === undefined || Number.isNaN(Date.parse(until))) return text
  const last = until.length === '2026-01-01'.length ? endOf(until) : Date.parse(until)
  parts.set('UNTIL', untilText(move(last), isAllDay))
  return textOf(parts)
}
