import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { today } from '../../kit/formats.ts'
import { language } from '../../kit/language.ts'
import { addDays, toLocalInput } from './days.ts'

export type Event = Entry<'svc_events'>

export const entries = openEntries('svc_events', {
  blank: { title: '', starts_at: new Date().toISOString(), ends_at: null, all_day: false, location: null, note: null },
  isComplete: ({ title }) => title.trim() !== '',
})

export const view = signal<'month' | 'week'>(innerWidth < 700 ? 'week' : 'month')
export const selected = signal(today())

/** First day of the week: Sunday in the United States, otherwise Monday. */
export const firstWeekday = computed(() =>
  language.value === 'en' && navigator.language === 'en-US' ? (0 as const) : (1 as const),
)

/** Days shown of one event: a wrong year must not freeze the page. */
const MAX_DAYS = 400

/**
 * First and last day of an event in the browser's time zone. All-day events are stored from midnight UTC to midnight
 * UTC after the last day, and are on the same days in every time zone.
 */
export function daysOf({ starts_at, ends_at, all_day }: Event): { first: string; last: string } {
  if (all_day) {
    const first = starts_at.slice(0, 10)
    if (ends_at === null || ends_at.slice(0, 10) <= first) return { first, last: first }
    const end = ends_at.slice(0, 10)
    return { first, last: /T00:00(:00(\.0+)?)?(Z|\+00:00)$/.test(ends_at) ? addDays(end, -1) : end }
  }
  const first = toLocalInput(starts_at).slice(0, 10)
  if (ends_at === null || ends_at <= starts_at) return { first, last: first }
  // An event that ends at midnight is not on the next day.
  return { first, last: today(new Date(Date.parse(ends_at) - 1)) }
}

/** Events by day: all-day ones first, then by time. */
const byDay = computed(() => {
  const days = new Map<string, Event[]>()
  const sorted = entries.all.value.toSorted(
    (a, b) => Number(b.all_day) - Number(a.all_day) || Date.parse(a.starts_at) - Date.parse(b.starts_at),
  )
  for (const event of sorted) {
    const { first, last } = daysOf(event)
    let day = first
    for (let count = 0; day <= last && count < MAX_DAYS; count++) {
      const known = days.get(day)
      if (known) known.push(event)
      else days.set(day, [event])
      day = addDays(day, 1)
    }
  }
  return days
})

export const eventsOn = (day: string): readonly Event[] => byDay.value.get(day) ?? []

/** Creates an event on a day: at the next full hour today, at nine on other days. */
export function createOn(day: string): void {
  const hour = day === today() ? Math.min(23, new Date().getHours() + 1) : 9
  const start = new Date(`${day}T${String(hour).padStart(2, '0')}:00`)
  entries.create({ starts_at: start.toISOString(), ends_at: new Date(start.getTime() + 3_600_000).toISOString() })
}
