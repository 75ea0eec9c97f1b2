import { addDays, toLocalInput } from './days.ts'
import { today } from './local-day.ts'

/** The columns of `svc_events` that say when an event takes place. */
export interface Times {
  starts_at: string
  ends_at: string | null
  all_day: boolean
}

/**
 * First and last day of an event in the browser's time zone. All-day events are stored from midnight UTC to midnight
 * UTC after the last day, and are on the same days in every time zone.
 */
export function daysOf({ starts_at, ends_at, all_day }: Times): { first: string; last: string } {
  if (all_day) {
    const first = starts_at.slice(0, 10)
    if (ends_at === null || ends_at.slice(0, 10) <= first) return { first, last: first }
    const end = ends_at.slice(0, 10)
    return { first, last: /T00:00(:00(\.0+)?)?(Z|\+00:00)$/.test(ends_at) ? addDays(end, -1) : end }
  }
  const first = toLocalInput(starts_at).slice(0, 10)
  if (ends_at === null || Date.parse(ends_at) <= Date.parse(starts_at)) return { first, last: first }
  // An event that ends at midnight is not on the next day.
  return { first, last: today(new Date(Date.parse(ends_at) - 1)) }
}
