import { computed } from '@preact/signals'
import { DAY } from '../../../base/clock.ts'
import { firstWeekday } from '../../kit/first-weekday.ts'
import { today } from '../../kit/local-day.ts'
import { isSeries } from '../../kit/recurrence/series-starts.ts'
import { monthOf, weekOf } from '../../kit/days.ts'
import { daysOf } from '../../kit/event-days.ts'
import { leftOutIn } from '../../../client/rows/event-uid.ts'
import { calendarOfEvent } from './event-calendars.ts'
import type { Stretch } from './event-layout.ts'
import { seriesOf, startsOf, uidOf } from './series.ts'
import { entries, selected, view, type Event } from './store.ts'

/** An event at the time when it takes place. */
export interface Occurrence {
  key: string
  /** The event; of a series, with the times of this occurrence. */
  event: Event
  /** The series that it belongs to, and when it starts by its rule. */
  recurrence?: { series: Event; at: number }
  /** Milliseconds since 1970; all-day events begin and end at midnight UTC. */
  start: number
  end: number
  /** First and last day in the browser's time zone. */
  first: string
  last: string
  /** Whether it is shown as a bar over its days instead of at its hours. */
  isBar: boolean
}

const known = new WeakMap<Event, Occurrence>()

function placed(event: Event): Omit<Occurrence, 'key'> {
  const start = Date.parse(event.starts_at)
  const end = event.ends_at === null ? start : Math.max(start, Date.parse(event.ends_at))
  return { event, start, end, ...daysOf(event), isBar: event.all_day || end - start >= DAY }
}

/** The only occurrence of an event that is not repeated. */
export function occurrenceOf(event: Event): Occurrence {
  const found = known.get(event)
  if (found) return found
  const occurrence = { key: event.key, ...placed(event) }
  known.set(event, occurrence)
  return occurrence
}

/** An occurrence keeps its key when it is changed, and with it the focus. */
const keyAt = (series: Event, at: number): string => `${uidOf(series)}@${at}`

/** The occurrences of a series that touch some days. */
function occurrencesOf(series: Event, from: string, to: string): Occurrence[] {
  const length = series.ends_at === null ? 0 : Math.max(0, Date.parse(series.ends_at) - Date.parse(series.starts_at))
  const [earliest, latest] = [Date.parse(from) - DAY - length, Date.parse(to) + 2 * DAY]
  const starts = startsOf(series).filter((at) => at >= earliest && at <= latest)
  return starts.map((at) => {
    const ends_at = series.ends_at === null ? null : new Date(at + length).toISOString()
    const event = { ...series, starts_at: new Date(at).toISOString(), ends_at }
    return { key: keyAt(series, at), recurrence: { series, at }, ...placed(event) }
  })
}

function changedOccurrence(event: Event): Occurrence {
  const series = seriesOf(event)
  if (!series) return occurrenceOf(event)
  const at = Date.parse(event.recurrence_id!)
  return { key: keyAt(series, at), recurrence: { series, at }, ...placed(event) }
}

const inOrder = (a: Occurrence, b: Occurrence): number =>
  Number(b.isBar) - Number(a.isBar) || a.start - b.start || b.end - a.end || a.key.localeCompare(b.key)

/** The days that the view shows. */
export const shownDays = computed<readonly string[]>(() => {
  if (view.value === 'day') return [selected.value]
  return view.value === 'month'
    ? monthOf(selected.value, firstWeekday.value).flat()
    : weekOf(selected.value, firstWeekday.value)
})

const isLeftOut = computed(() => leftOutIn(entries.all.value))

/** The occurrences on the shown days: bars first, then by time. */
export const occurrences = computed<readonly Occurrence[]>(() => {
  const days = shownDays.value
  const [start, end] = [days[0]!, days.at(-1)!]
  // While a changed occurrence is saved, its draft and its row exist both.
  const keys = new Set<string>()
  return entries.all.value
    .filter((event) => !calendarOfEvent(event).hidden && !isLeftOut.value(event))
    .flatMap((event) => {
      if (isSeries(event)) return occurrencesOf(event, start, end)
      return [event.recurrence_id === null ? occurrenceOf(event) : changedOccurrence(event)]
    })
    .filter(({ first, last, key }) => first <= end && last >= start && !keys.has(key) && keys.add(key))
    .toSorted(inOrder)
})

/** Those of them that are bars. */
export const barOccurrences = computed(() => occurrences.value.filter(({ isBar }) => isBar))

export const occurrencesOn = (day: string): readonly Occurrence[] =>
  occurrences.value.filter(({ first, last }) => first <= day && last >= day)

export interface TimedStretch extends Stretch {
  of: Occurrence
  /** Whether the occurrence ends on this day. */
  isEnd: boolean
}

const minuteOf = (moment: number): number => new Date(moment).getHours() * 60 + new Date(moment).getMinutes()

/** The parts of a day that occurrences with hours take up. */
export const stretchesOn = (day: string): TimedStretch[] =>
  occurrencesOn(day)
    .filter(({ isBar }) => !isBar)
    .map((of) => {
      const begin = of.first < day ? 0 : minuteOf(of.start)
      const isEnd = of.last === day
      const end = isEnd && today(new Date(of.end)) === day ? minuteOf(of.end) : 1_440
      // The hour that is repeated when daylight saving time ends may put the end before the beginning.
      return { of, begin, end: Math.max(begin, end), isEnd }
    })
