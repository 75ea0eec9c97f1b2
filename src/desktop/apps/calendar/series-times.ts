import { DAY } from '../../../base/clock.ts'
import { isZone, momentOf, wallOf } from '../../../base/zoned-time.ts'
import { addDays } from '../../kit/days.ts'
import type { Times } from '../../kit/event-days.ts'
import { ownZone } from '../../kit/local-day.ts'
import { movedRule, withMovedEnd } from '../../kit/recurrence/rule.ts'

/** What places a series in time. */
export interface SeriesTimes extends Times {
  tzid: string | null
  rrule: string | null
  rdates: string[] | null
  exdates: string[] | null
}

/** The zone in which a rule counts; days without hours are the same in all. */
export const zoneOf = ({ all_day, tzid }: { all_day: boolean; tzid: string | null }): string =>
  !all_day && tzid !== null && isZone(tzid) ? tzid : 'UTC'

const dayOfWall = (wall: number): string => new Date(wall).toISOString().slice(0, 10)

/** Day of a moment in the zone of a series. */
export const dayIn = (series: { all_day: boolean; tzid: string | null }, moment: string): string =>
  dayOfWall(wallOf(Date.parse(moment), zoneOf(series)))

/** The last day on which an occurrence can start up to a moment, in the zone of a series. */
export function lastDay(series: { all_day: boolean; tzid: string | null; starts_at: string }, moment: string): string {
  const timeOf = (text: string): string => new Date(wallOf(Date.parse(text), zoneOf(series))).toISOString().slice(11)
  const day = dayIn(series, moment)
  return timeOf(moment) < timeOf(series.starts_at) ? addDays(day, -1) : day
}

/** The last second of a day in the zone of a series. */
export const endOfDay = (series: { all_day: boolean; tzid: string | null }, day: string): number =>
  momentOf(Date.parse(`${day}T23:59:59Z`), zoneOf(series))

/** Moves the starts of occurrences along with the first one, by the clock of the series. */
export function shifter(from: SeriesTimes, to: Times & { tzid: string | null }): (moment: string) => string {
  const [fromZone, toZone] = [zoneOf(from), zoneOf(to)]
  const by = wallOf(Date.parse(to.starts_at), toZone) - wallOf(Date.parse(from.starts_at), fromZone)
  return (moment) => new Date(momentOf(wallOf(Date.parse(moment), fromZone) + by, toZone)).toISOString()
}

/**
 * Moves the last moment of a series like its occurrences, so that it ends with the same one. The end of a day stays the
 * end of a day unless the series becomes one of whole days.
 */
function endMover(from: SeriesTimes, to: Times & { tzid: string | null }): (lastMoment: number) => number {
  const shift = shifter(from, to)
  const days = (Date.parse(dayIn(to, to.starts_at)) - Date.parse(dayIn(from, from.starts_at))) / DAY
  return (moment) => {
    const text = new Date(moment).toISOString()
    const day = dayIn(from, text)
    const isEndOfDay = moment === endOfDay(from, day)
    return isEndOfDay && !to.all_day ? endOfDay(to, addDays(day, days)) : Date.parse(shift(text))
  }
}

/** All that changes in a series when its first occurrence gets other times. */
export function movedSeries(from: SeriesTimes, times: Times): SeriesTimes {
  const to = { ...times, tzid: times.all_day ? null : (from.tzid ?? ownZone()) }
  const shift = shifter(from, to)
  const moved = (dates: string[] | null): string[] | null => dates && dates.map(shift)
  const rule = from.rrule && movedRule(from.rrule, dayIn(from, from.starts_at), dayIn(to, to.starts_at))
  const endOf = (day: string): number => endOfDay(from, day)
  return {
    ...to,
    rrule: rule && withMovedEnd(rule, { isAllDay: to.all_day, endOf, move: endMover(from, to) }),
    rdates: moved(from.rdates),
    exdates: moved(from.exdates),
  }
}

/** Times of the first occurrence after a later one got other times. */
export function firstTimes(series: SeriesTimes, before: Times, after: Times): Times {
  const zone = zoneOf(series)
  const by = wallOf(Date.parse(after.starts_at), zone) - wallOf(Date.parse(before.starts_at), zone)
  const start = momentOf(wallOf(Date.parse(series.starts_at), zone) + by, zone)
  const length = after.ends_at === null ? undefined : Date.parse(after.ends_at) - Date.parse(after.starts_at)
  return {
    all_day: after.all_day,
    starts_at: new Date(start).toISOString(),
    ends_at: length === undefined ? null : new Date(start + length).toISOString(),
  }
}
