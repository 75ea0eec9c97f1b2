import type { Times } from '../../kit/event-days.ts'
import { uuid, type Fields } from '../../kit/rows.ts'
import { toastError } from '../../kit/toast.tsx'
import type { Occurrence } from './occurrences.ts'
import { endedRule, isCounted, restOfRule } from '../../kit/recurrence/rule.ts'
import { changesOf, countBefore, uidOf } from './series.ts'
import { firstTimes, movedSeries, shifter } from './series-times.ts'
import { entries, notRepeated, type Event } from './store.ts'

/** Which occurrences a change is for. */
export const scopes = ['this', 'following', 'all'] as const
export type Scope = (typeof scopes)[number]

/** An occurrence of a series. */
export type Recurring = Occurrence & { recurrence: NonNullable<Occurrence['recurrence']> }

export const isRecurring = (of: Occurrence): of is Recurring => of.recurrence !== undefined

export type Undo = () => void

type EventFields = Partial<Fields<'svc_events'>>

const isoOf = (moment: number): string => new Date(moment).toISOString()

/** An event as it is now; a new one is found only after its first input. */
const found = (event: Event): Event | undefined => entries.find(event.key) ?? (entries.isNew(event) ? event : undefined)

function change(known: Event, fields: EventFields): Undo {
  const { key } = known
  const event = found(known)
  if (!event) return () => undefined
  const names = Object.keys(fields) as (keyof EventFields)[]
  const before = Object.fromEntries(names.map((name) => [name, event[name]])) as EventFields
  entries.write(event, fields)
  return () => {
    const now = entries.find(key)
    if (now) entries.write(now, before)
  }
}

function add(fields: EventFields): { key: string; undo: Undo } {
  const key = entries.add(fields)
  return {
    key,
    undo: () => {
      const added = entries.find(key)
      if (added) void entries.remove(added).catch(toastError)
    },
  }
}

function remove(event: Event): Undo {
  const restore = entries.remove(event)
  restore.catch(toastError)
  return () => void restore.then((insert) => insert()).catch(toastError)
}

/** The last change first. */
const all = (undos: Undo[]): Undo => {
  return () => undos.toReversed().forEach((undo) => undo())
}

/**
 * Writes the UID of a series that has none, by which its changed occurrences name it: its ID would be another one after an undo or
 * in another account.
 */
export function identify(known: Event): string {
  const series = found(known) ?? known
  const uid = uidOf(series)
  for (const changed of changesOf(series)) if (changed.uid !== uid) entries.write(changed, { uid })
  if (series.uid === null) change(series, { uid })
  return uid
}

/** The fields of an occurrence as an event of its own, which replaces it in its series. */
export function changedFields({ event, recurrence: { series, at } }: Recurring): EventFields {
  return { ...entries.fieldsOf(event), ...notRepeated, uid: uidOf(series), recurrence_id: isoOf(at) }
}

/** The event that replaces an occurrence; there may be one since the occurrence was shown. */
const changedAt = ({ recurrence: { series, at } }: Recurring): readonly Event[] =>
  changesOf(series).filter(({ recurrence_id }) => Date.parse(recurrence_id!) === at)

/** Gives one occurrence other times. */
export function moveThis(of: Recurring, times: Times): Undo {
  identify(of.recurrence.series)
  const [changed] = changedAt(of)
  if (changed) return change(changed, { ...times })
  return add({ ...changedFields(of), ...times }).undo
}

const isFirst = ({ recurrence: { series, at } }: Recurring): boolean => at <= Date.parse(series.starts_at)

const before = (dates: string[] | null, at: number) => dates && dates.filter((date) => Date.parse(date) < at)
const since = (dates: string[] | null, at: number) => dates && dates.filter((date) => Date.parse(date) >= at)

/** Ends a series before an occurrence. */
function truncate({ recurrence: { series, at } }: Recurring): Undo {
  const { rrule, rdates, exdates, all_day } = found(series) ?? series
  return change(series, {
    rrule: rrule && endedRule(rrule, at, all_day),
    rdates: before(rdates, at),
    exdates: before(exdates, at),
  })
}

const changesSince = ({ recurrence: { series, at } }: Recurring): readonly Event[] =>
  changesOf(series).filter(({ recurrence_id }) => Date.parse(recurrence_id!) >= at)

/**
 * The rest of a series as one of its own, from an occurrence on, and what to do after it was added: it takes its changed
 * occurrences along, and the series ends before it. Undefined if the rule cannot be calculated.
 */
async function restOf(of: Recurring): Promise<{ fields: EventFields; detach: () => Undo } | undefined> {
  const { series, at } = of.recurrence
  const { rrule } = series
  const count = rrule !== null && isCounted(rrule) ? await countBefore(series, at) : 0
  if (count === undefined) return undefined
  const uid = uuid()
  const length = series.ends_at === null ? undefined : Date.parse(series.ends_at) - Date.parse(series.starts_at)
  const fields = {
    ...entries.fieldsOf(series),
    starts_at: isoOf(at),
    ends_at: length === undefined ? null : isoOf(at + length),
    rrule: rrule && restOfRule(rrule, count),
    rdates: since(series.rdates, at),
    exdates: since(series.exdates, at),
    uid,
  }
  return { fields, detach: () => all([...changesSince(of).map((event) => change(event, { uid })), truncate(of)]) }
}

/** Moves all of a series, also what was changed or left out. */
export function moveSeries(series: Event, times: Times): Undo {
  const fields = movedSeries(series, times)
  const shift = shifter(series, fields)
  // The rest of a series that is new takes its changed occurrences along when it is first written.
  const undo = change(series, fields)
  return all([undo, ...changesOf(series).map((event) => change(event, { recurrence_id: shift(event.recurrence_id!) }))])
}

/**
 * What opens the occurrences of a scope to change them; undefined if the rule cannot be calculated. The series is not
 * split before the first change.
 */
export async function openerOf(of: Recurring, scope: Exclude<Scope, 'this'>): Promise<(() => void) | undefined> {
  if (scope === 'all' || isFirst(of)) return () => void (entries.open.value = of.recurrence.series.key)
  const rest = await restOf(of)
  return rest && (() => entries.create(rest.fields, rest.detach))
}

/** Gives occurrences other times; undefined if the rule cannot be calculated. */
export async function moveOccurrence(of: Recurring, times: Times, scope: Scope): Promise<Undo | undefined> {
  if (scope === 'this') return moveThis(of, times)
  const { series } = of.recurrence
  if (scope === 'all' || isFirst(of)) return moveSeries(series, firstTimes(series, of.event, times))
  const rest = await restOf(of)
  if (!rest) return undefined
  const { key, undo } = add(rest.fields)
  const undos = [undo, rest.detach()]
  const added = entries.find(key)!
  return all([...undos, moveSeries(added, firstTimes(added, of.event, times))])
}

/** Deletes occurrences. */
export function removeOccurrence(of: Recurring, scope: Scope): Undo {
  const { series, at } = of.recurrence
  if (scope === 'this') {
    const exdates = [...((found(series) ?? series).exdates ?? []), isoOf(at)]
    return all([change(series, { exdates }), ...changedAt(of).map(remove)])
  }
  if (scope === 'following' && !isFirst(of)) return all([truncate(of), ...changesSince(of).map(remove)])
  identify(series)
  return all([...changesOf(series), series].map(remove))
}
