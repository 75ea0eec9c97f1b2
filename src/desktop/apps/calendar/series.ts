import { computed, effect, signal } from '@preact/signals'
import { DAY } from '../../../base/clock.ts'
import { eventUid, seriesUids } from '../../../client/rows/event-uid.ts'
import { expand } from '../../kit/recurrence/expand.ts'
import { isSeries, seriesStarts } from '../../kit/recurrence/series-starts.ts'
import { zoneOf } from './series-times.ts'
import { entries, selected, type Event } from './store.ts'

/** Most occurrences of a series in the expanded range. */
const MAX_STARTS = 1_000

/** Days before and after the selected one that are expanded, so that the next views are there already. */
const MARGIN = 100

interface Expanded {
  range: string
  /** Undefined if the rule is not valid or takes too long. */
  starts: readonly number[] | undefined
}

const expanded = signal<ReadonlyMap<string, Expanded>>(new Map())

/** What an expansion depends on. */
const keyOf = (event: Event): string => `${event.rrule}|${event.starts_at}|${zoneOf(event)}`

const series = computed(() => entries.all.value.filter(isSeries))

/** The month of the selected day, with a margin. */
const range = computed(() => selected.value.slice(0, 7))

/** Results that arrived together are shown together. */
let arrived = new Map<string, Expanded>()
function show(key: string, result: Expanded): void {
  if (arrived.size === 0) {
    setTimeout(() => {
      expanded.value = new Map([...expanded.value, ...arrived])
      arrived = new Map()
    })
  }
  arrived.set(key, result)
}

const requested = new Map<string, string>()

effect(() => {
  const month = range.value
  const from = Date.parse(`${month}-01`) - MARGIN * DAY
  const to = from + (2 * MARGIN + 31) * DAY
  for (const event of series.value) {
    if (event.rrule === null) continue
    const key = keyOf(event)
    const known = expanded.peek().get(key)
    if (requested.get(key) === month || (known && known.starts === undefined)) continue
    requested.set(key, month)
    const length = event.ends_at === null ? 0 : Date.parse(event.ends_at) - Date.parse(event.starts_at)
    const start = Date.parse(event.starts_at)
    const expansion = { rule: event.rrule, start, zone: zoneOf(event), from: from - length, to, limit: MAX_STARTS }
    void expand(expansion).then((starts) => requested.get(key) === month && show(key, { range: month, starts }))
  }
})

/** Whether the rule of a series cannot be followed, so that only its first occurrence is shown. */
export const isUnreadable = (event: Event): boolean => {
  const found = expanded.value.get(keyOf(event))
  return found !== undefined && found.starts === undefined
}

/** Changed occurrences by the UID of their series. */
const changes = computed(() => {
  const byUid = new Map<string, Event[]>()
  for (const event of entries.all.value) {
    if (event.uid === null || event.recurrence_id === null) continue
    const known = byUid.get(event.uid)
    if (known) known.push(event)
    else byUid.set(event.uid, [event])
  }
  return byUid
})

/** The UID of a series, or the one that it gets with its first changed occurrence. */
export const uidOf = ({ uid, key, row }: Event): string => uid ?? (row ? eventUid({ ...row, uid }) : key)

const uidsOf = (event: Event): readonly string[] =>
  event.row ? seriesUids({ ...event.row, uid: event.uid }) : [uidOf(event)]

export const changesOf = (event: Event): readonly Event[] =>
  uidsOf(event).flatMap((uid) => changes.value.get(uid) ?? [])

const seriesByUid = computed(
  () => new Map(series.value.flatMap((event) => uidsOf(event).map((uid) => [uid, event] as const))),
)

/** The series that a changed occurrence belongs to. */
export const seriesOf = (event: Event): Event | undefined =>
  event.uid === null || event.recurrence_id === null ? undefined : seriesByUid.value.get(event.uid)

const timesOf = (dates: readonly string[] | null): number[] => (dates ?? []).map((date) => Date.parse(date))

/** The starts of a series in the expanded range, without those that are left out or changed. */
export function startsOf(event: Event): readonly number[] {
  const changed = changesOf(event).map(({ recurrence_id }) => Date.parse(recurrence_id!))
  const [added, leftOut] = [timesOf(event.rdates), timesOf(event.exdates)]
  const source = { start: Date.parse(event.starts_at), added, leftOut }
  return seriesStarts(source, expanded.value.get(keyOf(event))?.starts ?? [], changed)
}

/** How many occurrences a series has before a moment; undefined if that cannot be calculated. */
export async function countBefore(event: Event, moment: number): Promise<number | undefined> {
  const start = Date.parse(event.starts_at)
  const zone = zoneOf(event)
  const found = await expand({ rule: event.rrule!, start, zone, from: start, to: moment - 1_000, limit: 100_000 })
  return found?.length
}
