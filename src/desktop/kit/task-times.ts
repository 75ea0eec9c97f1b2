import { isZone, momentAtClock } from '../../base/zoned-time.ts'
import { today } from './local-day.ts'

/** The columns of `svc_tasks` that say when a task is due. */
export interface Due {
  due_on: string | null
  due_time: string | null
  tzid: string | null
}

/** The moment when a task with an hour is due, ms; undefined if it has none. */
export function dueMoment({ due_on, due_time, tzid }: Due): number | undefined {
  if (due_on === null || due_time === null) return undefined
  return momentAtClock(Date.parse(`${due_on}T${due_time}Z`), tzid !== null && isZone(tzid) ? tzid : 'UTC')
}

/** The time zone of a task if the browser does not know it; its hour is then that of UTC. */
export const unknownZone = ({ due_time, tzid }: Due): string | undefined =>
  due_time !== null && tzid !== null && !isZone(tzid) ? tzid : undefined

/** The day when a task is due, in the browser's time zone. */
export function dueDay(due: Due): string | null {
  const moment = dueMoment(due)
  return moment === undefined ? due.due_on : today(new Date(moment))
}
