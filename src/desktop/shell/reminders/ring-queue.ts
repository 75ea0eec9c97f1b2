import { DAY, MINUTE } from '../../../base/clock.ts'
import type { Expansion } from '../../kit/recurrence/expand-rule.ts'
import { seriesStarts } from '../../kit/recurrence/series-starts.ts'
import {
  MISSED_FOR,
  ringsAt,
  sourceOf,
  type ReminderRow,
  type RemindedTable,
  type Ring,
  type Source,
} from './ring-times.ts'

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

/** Original times of occurrences that have rows of their own. */
function makeChangedOccurrences() {
  /** By the UID of the series and the key of the row. */
  const times = new Map<string, Map<string, number>>()
  const uids = new Map<string, string>()
  return {
    of: (uids: readonly string[]): number[] => uids.flatMap((uid) => [...(times.get(uid)?.values() ?? [])]),
    /** Returns the UID of the series; undefined if the row is no such occurrence. */
    put(key: string, { uid, recurrence_id }: ReminderRow): string | undefined {
      if (uid === null || !recurrence_id) return undefined
      times.set(uid, (times.get(uid) ?? new Map<string, number>()).set(key, Date.parse(recurrence_id)))
      uids.set(key, uid)
      return uid
    },
    remove(key: string): string | undefined {
      const uid = uids.get(key)
      if (uid !== undefined) times.get(uid)?.delete(key)
      uids.delete(key)
      return uid
    },
    clear(): void {
      times.clear()
      uids.clear()
    },
  }
}

/** Keeps when each row rings next, so that a check costs nothing until a reminder is due. */
export function makeRingQueue({ now, ownZone, expand, onChange }: Options) {
  const sources = new Map<string, Source>()
  const next = new Map<string, number>()
  /** Starts by the rule of a series. */
  const expanded = new Map<string, readonly number[]>()
  const changed = makeChangedOccurrences()
  let wakeAt = Infinity
  let refreshAt = now() + DAY

  function evaluate(source: Source): void {
    const { key, table, id, title, isDay, uids } = source
    const isSingle = source.rule === undefined
    const starts = isSingle ? [source.start] : seriesStarts(source, expanded.get(key) ?? [], changed.of(uids))
    const { due, next: at } = ringsAt(source, starts, now(), ownZone)
    if (at === undefined) next.delete(key)
    else next.set(key, at)
    wakeAt = Math.min(wakeAt, at ?? Infinity)
    onChange(key, due && { ...due, key, table, id, title, isDay })
  }

  async function expandSeries(source: Source): Promise<void> {
    const { rule, start, zone, minutes, key } = source
    const furthest = Math.max(0, ...minutes) * MINUTE
    const from = now() - MISSED_FOR - DAY
    const to = now() + AHEAD + furthest
    const starts = await expand({ rule: rule!, start, zone, from, to, limit: MAX_STARTS })
    if (sources.get(key) !== source) return
    expanded.set(key, starts ?? [])
    evaluate(source)
  }

  function evaluateSeries(uid: string | undefined): void {
    if (uid === undefined) return
    for (const one of sources.values()) if (one.rule !== undefined && one.uids.includes(uid)) evaluate(one)
  }

  /** Returns the UID of the series if the row was a changed occurrence. */
  function forget(key: string): string | undefined {
    sources.delete(key)
    next.delete(key)
    return changed.remove(key)
  }

  return {
    /** A row was read or changed. */
    put(table: RemindedTable, row: ReminderRow): void {
      const key = `${table}:${row.id}`
      const before = sources.get(key)
      forget(key)
      evaluateSeries(changed.put(key, row))
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
      const uid = forget(key)
      expanded.delete(key)
      onChange(key, undefined)
      evaluateSeries(uid)
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
      for (const key of sources.keys()) onChange(key, undefined)
      for (const map of [sources, next, expanded, changed]) map.clear()
      wakeAt = Infinity
    },
  }
}
