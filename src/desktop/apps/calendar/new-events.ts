import { HOUR } from '../../../base/clock.ts'
import { atMinute } from '../../kit/days.ts'
import type { Times } from '../../kit/event-days.ts'
import { today } from '../../kit/local-day.ts'
import { newEventsCalendar, showCalendar } from './event-calendars.ts'
import { entries } from './store.ts'

/** Begins a new event in the calendar for new events, which is shown for it. */
export function createTimes(times: Partial<Times>): void {
  const calendar = newEventsCalendar.value
  showCalendar(calendar)
  entries.create({ ...times, calendar_uid: calendar.uid || null })
}

/** Begins a new event of one hour, or of the given length. */
export const createAt = (start: Date, ms = HOUR): void =>
  createTimes({
    starts_at: start.toISOString(),
    ends_at: new Date(start.getTime() + ms).toISOString(),
  })

/** Begins a new event on a day: at the next full hour today, at nine on other days. */
export function createOn(day: string): void {
  const hour = day === today() ? Math.min(23, new Date().getHours() + 1) : 9
  createAt(atMinute(day, hour * 60))
}
