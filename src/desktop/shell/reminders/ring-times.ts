import { DAY, MINUTE } from '../../../base/clock.ts'
import { isZone, momentAtClock, wallOf } from '../../../base/zoned-time.ts'
import { seriesUids } from '../../../client/rows/event-uid.ts'
import { isSeries } from '../../kit/recurrence/series-starts.ts'
import { dueMoment, type Due } from '../../kit/task-times.ts'

export type RemindedTable = 'svc_events' | 'svc_tasks'

/** A row of the feed, as far as reminders depend on it. */
export interface ReminderRow extends Partial<Due> {
  id: number
  title: string
  created_at: string
  reminders: string[] | null
  reminded_at: string | null
  snoozed_until: string | null
  rrule: string | null
  uid: string | null
  /** Only of events. */
  starts_at?: string
  all_day?: boolean
  tzid?: string | null
  rdates?: string[] | null
  exdates?: string[] | null
  recurrence_id?: string | null
  /** Only of tasks. */
  done?: boolean
}

/** What is needed to tell when a row rings. */
export interface Source {
  key: string
  table: RemindedTable
  id: number
  title: string
  /** Minutes before the start; negative ones come after it. */
  minutes: readonly number[]
  /** Starts without hours are midnight UTC, and count by the clock of the browser. */
  isDay: boolean
  start: number
  zone: string
  isSeries: boolean
  /** Of a series; one without a rule has only added starts. */
  rule: string | undefined
  /** The UIDs by which changed occurrences name it; of one of them, that of its series. */
  uids: readonly string[]
  /** Of a changed occurrence: when it would have started. */
  original: number | undefined
  added: readonly number[]
  leftOut: readonly number[]
  /** Rings up to this moment are acknowledged, or older than the row. */
  acknowledged: number
  snoozed: number | undefined
}

const MINUTES_OF_DAY = DAY / MINUTE

export const timesOf = (dates: string[] | null | undefined): number[] => (dates ?? []).map((date) => Date.parse(date))

const startOf = (row: ReminderRow): { start: number; isDay: boolean } | undefined => {
  if (row.starts_at !== undefined) return { start: Date.parse(row.starts_at), isDay: row.all_day === true }
  if (row.done === true || !row.due_on) return undefined
  const { due_on, due_time = null, tzid = null } = row
  const moment = dueMoment({ due_on, due_time, tzid })
  return moment === undefined ? { start: Date.parse(due_on), isDay: true } : { start: moment, isDay: false }
}

/** Undefined for rows that cannot ring. */
export function sourceOf(table: RemindedTable, row: ReminderRow, ownZone: string): Source | undefined {
  const at = startOf(row)
  const minutes = (row.reminders ?? []).map(Number).filter((one) => Number.isSafeInteger(one))
  if (!at || minutes.length === 0) return undefined
  const { id, title, tzid } = row
  const zone = tzid && isZone(tzid) ? tzid : table === 'svc_tasks' || row.rrule !== null ? 'UTC' : ownZone
  const repeats = table === 'svc_events' && isSeries(row)
  return {
    key: `${table}:${id}`,
    table,
    id,
    title,
    minutes,
    ...at,
    zone: at.isDay ? 'UTC' : zone,
    isSeries: repeats,
    rule: repeats ? (row.rrule ?? undefined) : undefined,
    uids: seriesUids(row),
    original: row.recurrence_id ? Date.parse(row.recurrence_id) : undefined,
    added: timesOf(row.rdates),
    leftOut: timesOf(row.exdates),
    acknowledged: Math.max(Date.parse(row.created_at), row.reminded_at === null ? 0 : Date.parse(row.reminded_at)),
    snoozed: row.snoozed_until === null ? undefined : Date.parse(row.snoozed_until),
  }
}

/**
 * When a reminder of a start rings. Whole days count by the clock, so that they keep the hour when daylight saving changes; a
 * time that is skipped rings when the clock jumps. Hours and minutes are exact.
 */
export function ringMoment(
  { isDay, zone }: Pick<Source, 'isDay' | 'zone'>,
  start: number,
  minutes: number,
  own: string,
): number {
  if (isDay) return momentAtClock(start - minutes * MINUTE, own)
  const days = Math.max(0, Math.floor(minutes / MINUTES_OF_DAY))
  const from = days === 0 ? start : momentAtClock(wallOf(start, zone) - days * DAY, zone)
  return from - (minutes - days * MINUTES_OF_DAY) * MINUTE
}

export interface Ring {
  at: number
  /** The start of which it reminds. */
  start: number
}

/** Missed rings are shown this long, ms. */
export const MISSED_FOR = 7 * DAY

/** The latest ring that is due and not acknowledged, and the moment of the next one. */
export function ringsAt(
  source: Source,
  starts: readonly number[],
  now: number,
  own: string,
): { due: Ring | undefined; next: number | undefined } {
  let due: Ring | undefined
  let next: number | undefined
  const consider = (ring: Ring): void => {
    if (ring.at > now) next = Math.min(next ?? Infinity, ring.at)
    else if (ring.at > now - MISSED_FOR && ring.at > (due?.at ?? 0)) due = ring
  }
  for (const start of starts) {
    for (const minutes of source.minutes) {
      const at = ringMoment(source, start, minutes, own)
      if (at > source.acknowledged) consider({ at, start })
    }
  }
  const { snoozed } = source
  if (snoozed !== undefined) {
    const start = starts.findLast((one) => one <= snoozed + DAY) ?? source.start
    consider({ at: snoozed, start })
  }
  return { due, next }
}
