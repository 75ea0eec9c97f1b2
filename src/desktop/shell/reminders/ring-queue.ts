import { DAY, MINUTE } from '../../../base/clock.ts'
import { seriesUids } from '../../../client/rows/event-uid.ts'
import type { Expansion } from '../../kit/recurrence/expand-rule.ts'
import { seriesStarts } from '../../kit/recurrence/series-starts.ts'
import {
  MISSED_FOR,
  ringsAt,
  sourceOf,
  timesOf,
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

/** Moments of occurrences, by the UIDs of their series and the key of the row that names them. */
function makeMoments() {
  const byUid = new Map<string, Map<string, readonly number[]>>()
  const uidsOf = new Map<string, readonly string[]>()
  return {
    of: (uids: readonly string[]): number[] => uids.flatMap((uid) => [...(byUid.get(uid)?.values() ?? [])].flat()),
    put(key: string, uids: readonly string[], moments: readonly number[]): void {
      for (const uid of uids) byUid.set(uid, (byUid.get(uid) ?? new Map<string, readonly number[]>()).set(key, moments))
      uidsOf.set(key, uids)
    },
    /** Returns the UIDs of the series that a row named moments of. */
    remove(key: string): readonly string[] {
      const uids = uidsOf.get(key) ?? []
      for (const uid of uids) byUid.get(uid)?.delete(key)
      uidsOf.delete(key)
      return uids
    },
    clear(): void {
      byUid.clear()
      uidsOf.clear()
    },
  }
}

/** Occurrences of series that have rows of their own, or are left out. */
function makeExceptions() {
  const [changed, leftOut] = [makeMoments(), makeMoments()]
  return {
    /** Starts of a row, given those of its rule; undefined for an occurrence that was cancelled after it was changed. */
    startsOf(source: Source, ofRule: readonly number[]): readonly number[] | undefined {
      const { start, uids, original } = source
      if (original !== undefined && leftOut.of(uids).includes(original)) return undefined
      return source.isSeries ? seriesStarts(source, ofRule, changed.of(uids)) : [start]
    },
    /** Returns the UIDs of the series that a row of an event says something of. */
    put(key: string, row: ReminderRow): readonly string[] {
      const uids = seriesUids(row)
      if (row.recurrence_id) changed.put(key, uids, [Date.parse(row.recurrence_id)])
      else if (row.exdates) leftOut.put(key, uids, timesOf(row.exdates))
      return row.recurrence_id || row.exdates ? uids : []
    },
    /** Returns the UIDs of the series that the row said something of. */
    remove: (key: string): readonly string[] => [...changed.remove(key), ...leftOut.remove(key)],
    clear(): void {
      changed.clear()
      leftOut.clear()
    },
  }
}

/** Keeps when each row rings next, so that a check costs nothing until a reminder is due. */
export function makeRingQueue({ now, ownZone, expand, onChange }: Options) {
  const sources = new Map<string, Source>()
  const next = new Map<string, number>()
  /** Starts by the rule of a series. */
  const expanded = new Map<string, readonly number[]>()
  const exceptions = makeExceptions()
  let wakeAt = Infinity
  let refreshAt = now() + DAY

  function evaluate(source: Source): void {
    const { key, table, id, title, isDay } = source
    const starts = exceptions.startsOf(source, expanded.get(key) ?? [])
    const { due, next: at } = starts ? ringsAt(source, starts, now(), ownZone) : {}
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

  /** Evaluates the series with one of some UIDs, and their changed occurrences. */
  function evaluateAll(uids: readonly string[]): void {
    if (uids.length === 0) return
    for (const one of sources.values()) if (one.uids.some((uid) => uids.includes(uid))) evaluate(one)
  }

  function forget(key: string): readonly string[] {
    sources.delete(key)
    next.delete(key)
    return exceptions.remove(key)
  }

  return {
    /** A row was read or changed. */
    put(table: RemindedTable, row: ReminderRow): void {
      const key = `${table}:${row.id}`
      const before = sources.get(key)
      evaluateAll([...forget(key), ...(table === 'svc_events' ? exceptions.put(key, row) : [])])
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
      const uids = forget(key)
      expanded.delete(key)
      onChange(key, undefined)
      evaluateAll(uids)
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
      for (const map of [sources, next, expanded, exceptions]) map.clear()
      wakeAt = Infinity
    },
  }
}
