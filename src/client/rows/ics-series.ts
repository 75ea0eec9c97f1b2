import ICAL from 'ical.js'
import { DAY, iso } from '../../base/clock.ts'
import { basicTime, momentOf, wallOf } from '../../base/zoned-time.ts'
import { importWords, type ImportWords } from './import-words.ts'
import type { IcsEvent } from './ics-read.ts'
import type { Row } from './row-values.ts'

// What a file says of series in events of their own: occurrences that are cancelled, and changes of all that follow one.

type Rule = Map<string, string>

const ruleOf = (text: string): Rule => new Map(text.split(';').map((part) => part.split('=', 2) as [string, string]))

const textOf = (rule: Rule): string => [...rule].map(([name, value]) => `${name}=${value}`).join(';')

const untilText = (moment: number, isDay: boolean): string =>
  isDay ? basicTime(moment).slice(0, 8) : `${basicTime(moment)}Z`

const timeOf = (value: unknown): number => Date.parse(String(value))

const datesOf = (value: unknown): number[] => (Array.isArray(value) ? value.map(timeOf) : [])

const listOf = (dates: readonly number[]): string[] | null => (dates.length > 0 ? dates.map(iso) : null)

const zoneOf = ({ tzid }: Row): string => (typeof tzid === 'string' ? tzid : 'UTC')

/** Rules of which an occurrence costs one step, so that no file keeps the program busy. */
const SIMPLE =
  /^(?:(?:FREQ=DAILY|FREQ=MONTHLY|FREQ=YEARLY|INTERVAL=\d{1,3}|COUNT=\d{1,4}|WKST=\w\w|;)+|(?:FREQ=WEEKLY|BYDAY=[A-Z,]{2,20}|INTERVAL=\d{1,3}|COUNT=\d{1,4}|WKST=\w\w|;)+)$/

/** Number of occurrences before a moment; undefined if the rule is not a simple one. */
function countBefore({ rrule, starts_at, ...rest }: Row, at: number): number | undefined {
  const zone = zoneOf(rest)
  const start = wallOf(timeOf(starts_at), zone)
  const isLate = !String(rrule).includes('WEEKLY') && new Date(start).getUTCDate() > 28
  if (!SIMPLE.test(String(rrule)) || isLate) return undefined
  const iterator = ICAL.Recur.fromString(String(rrule)).iterator(ICAL.Time.fromJSDate(new Date(start), true))
  let count = 0
  for (let time = iterator.next(); time && time.toUnixTime() * 1_000 < wallOf(at, zone); time = iterator.next()) count++
  return count
}

/** Ends a series before a moment. */
function endBefore(series: Row, at: number): void {
  const isBefore = (date: number): boolean => date < at
  const rule = ruleOf(String(series['rrule']))
  rule.delete('COUNT')
  const isDay = series['all_day'] === true
  const until = untilText(at - 1_000, isDay)
  // Texts of times of one form are in the order of the times; a day ends after its hours.
  const own = rule.get('UNTIL')
  const ownEnd = own === undefined || isDay ? own?.slice(0, 8) : own.length === 8 ? `${own}T235959Z` : own
  if (ownEnd === undefined || ownEnd > until) rule.set('UNTIL', until)
  series['rrule'] = textOf(rule)
  for (const name of ['rdates', 'exdates']) series[name] = listOf(datesOf(series[name]).filter(isBefore))
}

/** Moves moments as the first of them was moved, by the clock of a zone. */
function shifterOf(series: Row, at: number, start: number): (moment: number) => number {
  const zone = zoneOf(series)
  const shift = wallOf(start, zone) - wallOf(at, zone)
  return (moment) => momentOf(wallOf(moment, zone) + shift, zone)
}

interface Part {
  from: number
  values: Row
  /** From times of the series in the file to those of the part. */
  shift: (moment: number) => number
}

/** The rest of a series as one of its own, with the values of the event that changes it; a text says why there is none. */
function restOf({ values: series, shift }: Part, changed: Row, original: number, words: ImportWords): Part | string {
  const at = shift(original)
  const start = timeOf(changed['starts_at'])
  const rule = ruleOf(String(series['rrule']))
  const zone = zoneOf(series)
  const isOtherDay = Math.floor(wallOf(at, zone) / DAY) !== Math.floor(wallOf(start, zone) / DAY)
  if (changed['all_day'] !== series['all_day']) return words.following_days
  if (isOtherDay && [...rule.keys()].some((name) => name.startsWith('BY'))) return words.following_rule
  const move = shifterOf(series, at, start)
  const count = rule.has('COUNT') ? countBefore(series, at) : 0
  if (count === undefined) return words.following_count
  if (rule.has('COUNT')) rule.set('COUNT', `${Math.max(1, Number(rule.get('COUNT')) - count)}`)
  const until = rule.get('UNTIL')
  if (until?.endsWith('Z')) {
    const moment = Date.parse(until.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
    rule.set('UNTIL', untilText(move(moment), false))
  }
  const rest = (name: string): string[] | null =>
    listOf(
      datesOf(series[name])
        .filter((date) => date >= at)
        .map(move),
    )
  const values = {
    ...changed,
    tzid: series['tzid'],
    uid: `${String(changed['uid'])}/${basicTime(original)}Z`.slice(-500),
    recurrence_id: null,
    rrule: textOf(rule),
    rdates: rest('rdates'),
    exdates: rest('exdates'),
    reminders: changed['reminders'] ?? series['reminders'],
  }
  return { from: original, values, shift: (moment) => move(shift(moment)) }
}

/** A series of a file, which the events that change it divide into parts. */
function makeSeries(values: Row, words: ImportWords) {
  /** The occurrences that are left out of series, where events of the file say so or name them. */
  const leftOut = new Map<Row, Set<number>>()
  const parts: Part[] = [{ from: -Infinity, values, shift: (moment) => moment }]
  const partAt = (at: number): Part => parts.findLast(({ from }) => from <= at)!
  const leftOutOf = (series: Row): Set<number> => {
    const dates = leftOut.get(series) ?? new Set(datesOf(series['exdates']))
    leftOut.set(series, dates)
    return dates
  }
  return {
    isDivisible: typeof values['rrule'] === 'string',
    cancel(at: number): void {
      const { values: series, shift } = partAt(at)
      leftOutOf(series).add(shift(at))
    },
    /** Writes which occurrences are left out, after all else. */
    finish(): void {
      for (const [series, dates] of leftOut) series['exdates'] = listOf([...dates])
    },
    end: (at: number): void => endBefore(partAt(at).values, partAt(at).shift(at)),
    /** Changes all from an occurrence on. Returns a series of its own, none if that was the first one, or why there is none. */
    divide(changed: Row, at: number): Row | undefined | string {
      const part = partAt(at)
      const rest = restOf(part, changed, at, words)
      if (typeof rest === 'string') return rest
      const { uid, ical, starts_at } = part.values
      if (part.shift(at) <= timeOf(starts_at)) {
        Object.assign(part.values, rest.values, { uid, ical })
        part.shift = rest.shift
        return undefined
      }
      endBefore(part.values, part.shift(at))
      parts.push(rest)
      return rest.values
    },
    /** Gives a changed occurrence to the part that it belongs to. It takes place even if the series leaves out its original time. */
    assign(event: IcsEvent, at: number): void {
      const { values: series, shift } = partAt(at)
      leftOutOf(series).delete(shift(at))
      event.values['uid'] = series['uid']
      event.values['recurrence_id'] = iso(shift(at))
    },
  }
}

const originalOf = ({ values }: IcsEvent): number => timeOf(values['recurrence_id'])

const isOccurrence = ({ values, problems }: IcsEvent): boolean =>
  problems.length === 0 && typeof values['uid'] === 'string' && typeof values['recurrence_id'] === 'string'

const isSeries = ({ values, problems, isCancelled }: IcsEvent): boolean =>
  problems.length === 0 && !isCancelled && !values['recurrence_id'] && Boolean(values['rrule'] ?? values['rdates'])

/**
 * Applies what events of a file say of series in it. Cancelled occurrences are left out of their series, and a change of all
 * that follow makes the rest a series of its own. Events that are cancelled altogether are not returned, but counted.
 */
export function joinSeries(
  events: readonly IcsEvent[],
  words = importWords,
): { events: IcsEvent[]; cancelled: number } {
  const all = new Map<unknown, ReturnType<typeof makeSeries>>()
  for (const event of events) if (isSeries(event)) all.set(event.values['uid'], makeSeries(event.values, words))
  const occurrences = events.filter(isOccurrence).toSorted((a, b) => originalOf(a) - originalOf(b))
  /** Events that a series has taken over, and those that are series now. */
  const applied = new Set<IcsEvent>()
  const divided = new Set<IcsEvent>()
  for (const event of occurrences.filter(({ isForFollowing }) => isForFollowing)) {
    const series = all.get(event.values['uid'])
    if (event.isCancelled) {
      if (!series?.isDivisible) continue
      series.end(originalOf(event))
      applied.add(event)
      continue
    }
    const rest = series?.isDivisible ? series.divide(event.values, originalOf(event)) : words.following_series
    if (typeof rest === 'string') event.notes.push(words.following(rest))
    else if (rest === undefined) applied.add(event)
    else {
      event.values = rest
      divided.add(event)
    }
  }
  for (const event of occurrences.filter((one) => !divided.has(one) && !applied.has(one))) {
    const series = all.get(event.values['uid'])
    if (!event.isCancelled) series?.assign(event, originalOf(event))
    else if (series) {
      series.cancel(originalOf(event))
      applied.add(event)
    }
  }
  for (const series of all.values()) series.finish()
  const cancelled = new Set(
    events.filter((event) => event.isCancelled && !applied.has(event) && event.problems.length === 0),
  )
  return { events: events.filter((event) => !applied.has(event) && !cancelled.has(event)), cancelled: cancelled.size }
}
