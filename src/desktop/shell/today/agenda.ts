import { DAY, iso } from '../../../base/clock.ts'
import { isZone } from '../../../base/zoned-time.ts'
import { calendarOf, type CalendarRow } from '../../../client/rows/calendars.ts'
import { leftOutIn, seriesUids } from '../../../client/rows/event-uid.ts'
import { daysOf, type Times } from '../../kit/event-days.ts'
import type { Expansion } from '../../kit/recurrence/expand-rule.ts'
import { isSeries, seriesStarts } from '../../kit/recurrence/series-starts.ts'
import { dueDay, dueMoment, type Due } from '../../kit/task-times.ts'

/** Columns of `svc_events` that the agenda shows. */
export interface EventRow extends Times {
  id: number
  created_at: string
  title: string
  calendar_uid: string | null
  tzid: string | null
  uid: string | null
  rrule: string | null
  rdates: string[] | null
  exdates: string[] | null
  recurrence_id: string | null
}

/** Columns of `svc_tasks` that the agenda shows. */
export interface TaskRow extends Due {
  id: number
  title: string
  done: boolean
}

export interface AgendaRows {
  events: Iterable<EventRow>
  tasks: Iterable<TaskRow>
  calendars: readonly (CalendarRow & { hidden: boolean })[]
}

export interface AgendaItem {
  key: string
  slug: 'calendar' | 'tasks'
  id: number
  title: string
  /** When it starts or is due, ms; undefined for whole days. */
  at: number | undefined
  /** Whether it was due on an earlier day, or at an earlier hour. */
  isOverdue: boolean
}

/** Most starts of a series in the days around today. */
const MAX_STARTS = 1_000

const timesOf = (dates: readonly string[] | null): number[] => (dates ?? []).map((date) => Date.parse(date))

const lengthOf = ({ starts_at, ends_at }: Times): number =>
  ends_at === null ? 0 : Math.max(0, Date.parse(ends_at) - Date.parse(starts_at))

/** What has to be expanded of a series with a rule to know the starts of a series that touch a day. */
export function expansionFor(event: EventRow, day: string): Expansion {
  const { all_day, tzid, rrule, starts_at } = event
  const zone = !all_day && tzid !== null && isZone(tzid) ? tzid : 'UTC'
  const noon = Date.parse(`${day}T12:00Z`)
  const from = noon - 2 * DAY - lengthOf(event)
  return { rule: rrule!, start: Date.parse(starts_at), zone, from, to: noon + 2 * DAY, limit: MAX_STARTS }
}

/** Original times of changed occurrences, by the UID of their series. */
function changedTimes(events: readonly EventRow[]): Map<string, number[]> {
  const times = new Map<string, number[]>()
  for (const { uid, recurrence_id } of events)
    if (uid !== null && recurrence_id !== null) times.set(uid, [...(times.get(uid) ?? []), Date.parse(recurrence_id)])
  return times
}

function eventItems(rows: AgendaRows, day: string, now: number, expanded: ReadonlyMap<number, readonly number[]>) {
  const events = [...rows.events]
  const changed = changedTimes(events)
  const isLeftOut = leftOutIn(events)
  const items: AgendaItem[] = []
  const add = ({ id, title }: EventRow, times: Times): void => {
    const { first, last } = daysOf(times)
    if (first > day || last < day) return
    const start = Date.parse(times.starts_at)
    // What is over is not shown; a moment without an end is over when it has passed.
    if (!times.all_day && start + lengthOf(times) < now) return
    const at = times.all_day || first < day ? undefined : start
    items.push({ key: `event ${id} ${times.starts_at}`, slug: 'calendar', id, title, at, isOverdue: false })
  }
  for (const event of events) {
    if (calendarOf(rows.calendars, event.calendar_uid)?.hidden || isLeftOut(event)) continue
    if (!isSeries(event)) {
      add(event, event)
      continue
    }
    const length = lengthOf(event)
    const { start, from, to } = expansionFor(event, day)
    const source = { start, added: timesOf(event.rdates), leftOut: timesOf(event.exdates) }
    const changes = seriesUids(event).flatMap((uid) => changed.get(uid) ?? [])
    const starts = seriesStarts(source, expanded.get(event.id) ?? [], changes)
    for (const at of starts.filter((one) => one >= from && one <= to))
      add(event, { ...event, starts_at: iso(at), ends_at: event.ends_at === null ? null : iso(at + length) })
  }
  return items
}

function taskItems(tasks: Iterable<TaskRow>, day: string, now: number): AgendaItem[] {
  const items: AgendaItem[] = []
  for (const task of tasks) {
    const due = dueDay(task)
    if (task.done || due === null || due > day) continue
    const at = dueMoment(task)
    const isOverdue = due < day || (at !== undefined && at < now)
    items.push({ key: `task ${task.id}`, slug: 'tasks', id: task.id, title: task.title, at, isOverdue })
  }
  return items
}

/** What is overdue first, then what lasts all day, then by time. */
const inOrder = (a: AgendaItem, b: AgendaItem): number =>
  Number(b.isOverdue) - Number(a.isOverdue) || (a.at ?? 0) - (b.at ?? 0) || a.title.localeCompare(b.title)

/**
 * The events of a day that are not over, and the open tasks due by then.
 *
 * @param expanded starts of series by the ID of their row, ms, as `expansionFor` asks for them
 */
export const agendaOf = (
  rows: AgendaRows,
  day: string,
  now: number,
  expanded: ReadonlyMap<number, readonly number[]>,
): AgendaItem[] => [...eventItems(rows, day, now, expanded), ...taskItems(rows.tasks, day, now)].toSorted(inOrder)
