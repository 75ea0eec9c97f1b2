import { DAY } from '../../../base/clock.ts'
import { ringsAt, sourceOf, type ReminderRow, type RemindedTable, type Ring, type Source } from './ring-times.ts'
import { MISSED_FOR } from './ring-times.ts'
import type { Expansion } from '../../kit/recurrence/expand-rule.ts'

export type Ringing = Ring & Pick<Source, 'key' | 'table' | 'id' | 'title' | 'isDay'>

interface Options {
  now: () => number
  ownZone: string
  expand: (expansion: Expansion) => Promise<readonly number[] | undefined>
  /** A row rings, or no longer does. */
  onChange: (key: string, ringing: Ringing | undefined) => void
}

/** Series are expanded this far ahead, and again after a day. */
const AHEAD = 3 * DAY

/** Most starts of a series that are considered. */
const MAX_STARTS = 1_000

/** Keeps when each row rings next, so that a check costs nothing until a reminder is due. */
export function makeRingQueue({ now, ownZone, expand, onChange }: Options) {
  const sources = new Map<string, Source>()
  const next = new Map<string, number>()
  /** Starts by the rule of a series. */
  const expanded = new Map<string, readonly number[]>()
  /** Original times of changed occurrences, by the UID of their series and the key of their row. */
  const changed = new Map<string, Map<string, number>>()
  const uidOfChanged = new Map<string, string>()
  let wakeAt = Infinity
  let refreshAt = now() + DAY

  const startsOf = (source: Source): number[] => {
    if (source.rule === undefined) return [source.start]
    const starts = new Set([source.start, ...source.added, ...(expanded.get(source.key) ?? [])])
    for (const date of source.leftOut) starts.delete(date)
    for (const date of changed.get(source.uid)?.values() ?? []) starts.delete(date)
    return [...starts].toSorted((a, b) => a - b)
  }

  function evaluate(source: Source): void {
    const { key, table, id, title, isDay } = source
    const { due, next: at } = ringsAt(source, startsOf(source), now(), ownZone)
    if (at === undefined) next.delete(key)
    else next.set(key, at)
    wakeAt = Math.min(wakeAt, at ?? Infinity)
    onChange(key, due && { ...due, key, table, id, title, isDay })
  }

  async function expandSeries(source: Source): Promise<void> {
    const { rule, start, zone, minutes, key } = source
    const furthest = Math.max(0, ...minutes) * 60_000
    const from = now() - MISSED_FOR - DAY
    const to = now() + AHEAD + furthest
    const starts = await expand({ rule: rule!, start, zone, from, to, limit: MAX_STARTS })
    if (sources.get(key) !== source) return
    expanded.set(key, starts ?? [])
    evaluate(source)
  }

  function forget(key: string): void {
    sources.delete(key)
    next.delete(key)
    const uid = uidOfChanged.get(key)
    if (uid !== undefined) changed.get(uid)?.delete(key)
    uidOfChanged.delete(key)
  }

  const seriesOf = (uid: string): Source[] =>
    [...sources.values()].filter((one) => one.rule !== undefined && one.uid === uid)

  function putChanged(key: string, { uid, recurrence_id }: ReminderRow): void {
    if (uid === null || !recurrence_id) return
    const times = changed.get(uid) ?? new Map<string, number>()
    changed.set(uid, times.set(key, Date.parse(recurrence_id)))
    uidOfChanged.set(key, uid)
    for (const series of seriesOf(uid)) evaluate(series)
  }

  return {
    /** A row was read or changed. */
    put(table: RemindedTable, row: ReminderRow): void {
      const key = `${table}:${row.id}`
      const before = sources.get(key)
      forget(key)
      putChanged(key, row)
      const source = sourceOf(table, row, ownZone)
      if (!source) {
        expanded.delete(key)
        return onChange(key, undefined)
      }
      sources.set(key, source)
      const isSameRule = before?.rule === source.rule && before?.start === source.start && before?.zone === source.zone
      if (source.rule !== undefined && !(isSameRule && expanded.has(key))) void expandSeries(source)
      else evaluate(source)
    },
    remove(table: RemindedTable, id: number): void {
      const key = `${table}:${id}`
      const uid = uidOfChanged.get(key)
      forget(key)
      expanded.delete(key)
      onChange(key, undefined)
      if (uid !== undefined) for (const series of seriesOf(uid)) evaluate(series)
    },
    /** Whether something is due; without it, this compares two numbers. */
    check(): void {
      const moment = now()
      if (moment >= refreshAt) {
        refreshAt = moment + DAY
        for (const source of sources.values()) if (source.rule !== undefined) void expandSeries(source)
      }
      if (moment < wakeAt) return
      wakeAt = Infinity
      for (const [key, at] of next) {
        if (at <= moment) evaluate(sources.get(key)!)
        else wakeAt = Math.min(wakeAt, at)
      }
    },
    /** Ms until the next check is needed. */
    wait: (): number => Math.max(0, Math.min(wakeAt, refreshAt) - now()),
    clear(): void {
      for (const key of [...sources.keys()]) onChange(key, undefined)
      for (const map of [sources, next, expanded, changed, uidOfChanged]) map.clear()
      wakeAt = Infinity
    },
  }
}
