import type { Clock } from '../base/clock.ts'
import { LIMIT_WINDOW } from '../contract/limits.ts'

/** The limit that leaves the fewest requests. `retryAfter` is in whole seconds, 0 when the request may pass. */
export interface RateLimitStatus {
  limit: number
  remaining: number
  /** Whole seconds until the window has room for one more request. */
  reset: number
  retryAfter: number
}

/** A limit on requests of one kind. */
export interface Quota {
  key: string
  max: number
  /** Units of the request, 1 by default. More than `max` passes when the window is empty. */
  cost?: number
}

/** Units that one server accepted and others do not know of. */
export interface Count {
  key: string
  units: number
  /** Time since they were accepted, ms. */
  age: number
}

/** For limits that several servers have in common. */
export interface Sharing {
  /** The name of a key among servers. */
  nameOf(key: string): string
  /** Counts are to be told to others: `takeUntold` returns them. */
  onDue(): void
}

const WINDOW_MS = LIMIT_WINDOW * 1_000
const SWEEP_EVERY = 10_000

/**
 * Others are told once a server has accepted a 16th of what a limit leaves. The closer a limit is, the finer the counts: what up to
 * 16 servers keep to themselves shrinks to nothing when it is reached. Nothing is sent for keys that stay far from their limits.
 */
const TOLD_SHARE = 16
/** Most keys to be told; others count on this server only, until there is room. */
const MOST_DUE = 20_000
/** Number of windows from which on counts of others for unknown keys are dropped. */
const MOST_LEARNED = 100_000
/** Counts of others are kept by tenths of a second, so that a window has at most 600 of them. */
const SLOT_MS = 100

/** Units accepted at one time, epoch ms. */
interface Entry {
  at: number
  units: number
  /** Accepted by this server, and not told to others. */
  isUntold: boolean
}

interface Window {
  /** Oldest first. */
  entries: Entry[]
  units: number
  untold: number
  /** The limit of the last request. */
  max: number
}

/** Adds units to those of the same time, or in the order of time. */
function insert(window: Window, entry: Entry): void {
  const { entries } = window
  window.units += entry.units
  if (entry.isUntold) window.untold += entry.units
  let index = entries.length
  while (index > 0 && entries[index - 1]!.at > entry.at) index -= 1
  const before = entries[index - 1]
  if (before?.at === entry.at && before.isUntold === entry.isUntold) before.units += entry.units
  else entries.splice(index, 0, entry)
}

/** At most `most` entries that others do not know of, which they are told now. */
function takeNewest(window: Window, most: number): Entry[] {
  const taken: Entry[] = []
  for (let index = window.entries.length - 1; window.untold > 0 && taken.length < most; index -= 1) {
    const entry = window.entries[index]!
    if (!entry.isUntold) continue
    entry.isUntold = false
    window.untold -= entry.units
    taken.push(entry)
  }
  return taken
}

/** The time at which so many units have left the window, except for its length. */
function lastToExpire({ entries }: Window, units: number): number | undefined {
  let left = units
  return (entries.find((entry) => (left -= entry.units) <= 0) ?? entries.at(-1))?.at
}

interface Counted {
  max: number
  cost: number
  window: Window
}

function statusOf({ max, cost, window }: Counted, isFull: boolean, now: number): RateLimitStatus {
  // After a limit was lowered, the window may hold more than `max`: there is room once all but `max - cost` have left it.
  const over = window.units - Math.max(0, max - cost)
  const last = lastToExpire(window, Math.max(1, over)) ?? now
  const reset = Math.max(1, Math.ceil((last + WINDOW_MS - now) / 1_000))
  const isUsedUp = isFull && window.units + cost > max
  const remaining = Math.max(0, Math.floor((max - window.units) / cost))
  return { limit: Math.floor(max / cost), remaining, reset, retryAfter: isUsedUp ? reset : 0 }
}

/**
 * Exact sliding-window rate limiter: at most `max` requests within any 60 seconds. Refused requests do not count. With `sharing` it
 * also counts what other servers tell.
 */
export function makeLimiter(clock: Clock, sharing?: Sharing) {
  const windows = new Map<string, Window>()
  const due = new Set<string>()
  let calls = 0

  function sweep(now: number): void {
    for (const [name, { entries }] of windows) if ((entries.at(-1)?.at ?? 0) <= now - WINDOW_MS) windows.delete(name)
  }

  function tidy(now: number): void {
    if (++calls % SWEEP_EVERY === 0) sweep(now)
  }

  /** What was accepted within the last 60 seconds. */
  function windowOf(name: string, now: number): Window {
    let window = windows.get(name)
    if (!window) windows.set(name, (window = { entries: [], units: 0, untold: 0, max: Infinity }))
    const { entries } = window
    // The clock was set back. Future times become now, so that nobody waits longer than one window.
    for (let index = entries.length - 1; entries[index] && entries[index]!.at > now; index -= 1)
      entries[index]!.at = now
    let expired = 0
    for (const { at, units, isUntold } of entries) {
      if (at > now - WINDOW_MS) break
      expired += 1
      window.units -= units
      if (isUntold) window.untold -= units
    }
    if (expired > 0) entries.splice(0, expired)
    return window
  }

  /** Notes that others are to be told of a window, if it holds enough that they do not know of. */
  function note(name: string, { untold, units, max }: Window): void {
    if (!sharing || untold === 0 || untold < (max - units) / TOLD_SHARE || due.size >= MOST_DUE) return
    due.add(name)
    sharing.onDue()
  }

  return {
    /** Counts against all limits, or none if one is exhausted. Returns the state of the tightest one. */
    acquire(...quotas: [Quota, ...Quota[]]): RateLimitStatus {
      const now = clock.now()
      tidy(now)
      const all = quotas.map(({ key, max, cost = 1 }) => {
        const name = sharing ? sharing.nameOf(key) : key
        const window = windowOf(name, now)
        window.max = max
        return { name, max, cost: Math.min(cost, max), window }
      })
      const isFull = all.some(({ max, cost, window }) => window.units + cost > max)
      if (!isFull)
        for (const { name, window, cost } of all) {
          insert(window, { at: now, units: cost, isUntold: sharing !== undefined })
          note(name, window)
        }
      const statuses = all.map((one) => statusOf(one, isFull, now))
      return statuses.reduce((least, one) =>
        one.retryAfter > least.retryAfter || (!isFull && one.remaining < least.remaining) ? one : least,
      )
    },

    /** Counts what another server accepted. */
    add(counts: readonly Count[]): void {
      const now = clock.now()
      for (const { key, units, age } of counts) {
        tidy(now)
        const at = Math.floor((now - age) / SLOT_MS) * SLOT_MS
        if (at <= now - WINDOW_MS || (windows.size >= MOST_LEARNED && !windows.has(key))) continue
        const window = windowOf(key, now)
        insert(window, { at, units, isUntold: false })
        note(key, window)
      }
    },

    /** At most `most` counts that others should know, which they are told now. */
    takeUntold(most: number): Count[] {
      const now = clock.now()
      const counts: Count[] = []
      for (const key of due) {
        if (counts.length >= most) break
        const window = windowOf(key, now)
        for (const { units, at } of takeNewest(window, most - counts.length)) counts.push({ key, units, age: now - at })
        if (window.untold === 0) due.delete(key)
      }
      return counts
    },

    hasDue: (): boolean => due.size > 0,
  }
}

export type Limiter = ReturnType<typeof makeLimiter>
