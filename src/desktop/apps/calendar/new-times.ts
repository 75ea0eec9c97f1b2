import { MINUTE } from '../../../base/clock.ts'
import type { Times } from '../../kit/event-days.ts'
import { today } from '../../kit/local-day.ts'
import { addDays, atMinute, daysBetween } from '../../kit/days.ts'

// Where an event goes when it is dragged, or moved by keys: pure, so that pointer and keyboard agree.

/** A place in a view; `minute` counts from midnight, and is undefined where only days are shown. */
export interface Place {
  day: string
  minute: number | undefined
}

interface Span {
  start: number
  end: number
  first: string
  last: string
  event: { all_day: boolean; ends_at: string | null }
}

/** Shortest event that can be made by dragging, and the grid that times snap to, minutes. */
export const STEP = 15

const snap = (minutes: number): number => Math.round(minutes / STEP) * STEP

/** An event that lasts from one day to another, both included. */
export const allDay = (first: string, last: string): Times => ({
  all_day: true,
  starts_at: `${first}T00:00:00Z`,
  ends_at: `${addDays(last, 1)}T00:00:00Z`,
})

const timed = (start: Date, end: Date | undefined): Times => ({
  all_day: false,
  starts_at: start.toISOString(),
  ends_at: end ? end.toISOString() : null,
})

/** The same event some days and minutes later by the clock; it keeps its duration. */
export function shifted({ start, end, first, last, event }: Span, days: number, minutes = 0): Times {
  if (event.all_day) return allDay(addDays(first, days), addDays(last, days))
  const before = new Date(start)
  const moved = atMinute(addDays(today(before), days), before.getHours() * 60 + before.getMinutes() + minutes)
  return timed(moved, event.ends_at === null ? undefined : new Date(moved.getTime() + end - start))
}

/** The event with another end; it stays at least one step, or one day, long. */
export function resized({ start, end, first, last, event }: Span, days: number, minutes = 0): Times {
  if (event.all_day) {
    const to = addDays(last, days)
    return allDay(first, to < first ? first : to)
  }
  const before = new Date(end)
  const to = atMinute(addDays(today(before), days), before.getHours() * 60 + before.getMinutes() + minutes)
  return timed(new Date(start), new Date(Math.max(to.getTime(), start + STEP * MINUTE)))
}

/** The times of an event that is dragged from one place to another. */
export function draggedTimes(kind: 'move' | 'resize', span: Span, from: Place, to: Place): Times {
  const days = daysBetween(from.day, to.day)
  const minutes = from.minute === undefined || to.minute === undefined ? 0 : snap(to.minute - from.minute)
  return kind === 'move' ? shifted(span, days, minutes) : resized(span, days, minutes)
}

/** The times of an event that is drawn from one place to another, in either direction. */
export function drawnTimes(a: Place, b: Place): Times {
  if (a.minute === undefined || b.minute === undefined) {
    return a.day < b.day ? allDay(a.day, b.day) : allDay(b.day, a.day)
  }
  const [begin, end] = a.minute < b.minute ? [a.minute, b.minute] : [b.minute, a.minute]
  const first = Math.floor(begin / STEP) * STEP
  const last = Math.min(1_440, Math.max(first + STEP, Math.ceil(end / STEP) * STEP))
  return timed(atMinute(a.day, first), atMinute(a.day, last))
}
