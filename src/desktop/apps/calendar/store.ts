import { signal } from '@preact/signals'
import { bridge } from '../../kit/bridge.ts'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { today } from '../../kit/local-day.ts'

export type Event = Entry<'svc_events'>

/** What an event has that does not repeat. */
export const notRepeated = { rrule: null, rdates: null, exdates: null }

export const entries = openEntries('svc_events', {
  blank: {
    title: '',
    starts_at: new Date().toISOString(),
    ends_at: null,
    all_day: false,
    location: null,
    note: null,
    ...notRepeated,
    uid: null,
    tzid: null,
    recurrence_id: null,
    ical: null,
    reminders: null,
    reminded_at: null,
    snoozed_until: null,
    calendar_uid: null,
  },
  isComplete: ({ title }) => title.trim() !== '',
})

export const views = ['month', 'week', 'day', 'list'] as const
export type View = (typeof views)[number]

export const view = signal<View>(innerWidth < 700 ? 'list' : 'month')
export const selected = signal(today())

/** Shows a view; the browser keeps which. */
export function show(next: View, day = selected.value): void {
  view.value = next
  selected.value = day
  bridge.setItem('view', next)
}

void bridge.getItem('view').then((stored) => {
  if (views.includes(stored as View)) view.value = stored as View
})

/** UID of the calendar for new events; empty for the default one. */
export const newEventsUid = signal('')

/** Chooses the calendar for new events; the browser keeps it. */
export function setNewEventsCalendar(uid: string): void {
  newEventsUid.value = uid
  bridge.setItem('calendar', uid)
}

void bridge.getItem('calendar').then((uid) => void (newEventsUid.value = uid ?? ''))
