import { monotonicOf, type Clock } from '../../../base/clock.ts'
import type { Op } from '../plan/plan-builder.ts'
import type { Progress, SyncEvent } from './events.ts'
import type { Limits } from '../../http/rate-limiter.ts'
import { limitOf } from '../apply/request-schedule.ts'

/** The amount of work of a plan. */
export interface Load {
  files: number
  bytes: number
  /** Requests by limit. */
  requests: ReadonlyMap<string, number>
}

interface Parts {
  clock: Clock
  emit: (event: SyncEvent) => void
  limits: () => Limits
  /** Milliseconds until a limit grants this many more requests. */
  estimateWait: (limit: string, requests: number) => number
}

/** Interval between events, ms. */
const INTERVAL = 250
/** Overhead per file, as bytes of content that take equally long. */
const PER_FILE = 16 * 1_024
/** Shortest reported delay by rate limits, ms. */
const NOTABLE_BYTES = 5_000

/** Estimates progress and remaining time: by transfer speed or by the server's limits, whichever takes longer. */
export function makeProgress({ clock, emit, limits, estimateWait }: Parts) {
  let began = monotonicOf(clock)
  let reportedAt = began
  let load: Load | undefined
  let left = new Map<string, number>()
  let files = 0
  let bytes = 0

  const weigh = (ofFiles: number, ofBytes: number): number => ofFiles * PER_FILE + ofBytes

  /** The slowest limit, with the milliseconds until it has granted everything. */
  function slowest(): { limit: string; ms: number } | undefined {
    const each = [...left].map(([limit, requests]) => ({ limit, ms: requests > 0 ? estimateWait(limit, requests) : 0 }))
    return each.filter(({ ms }) => ms >= NOTABLE_BYTES).sort((a, b) => b.ms - a.ms)[0]
  }

  function state(): Progress {
    const whole = weigh(load!.files, load!.bytes)
    const done = Math.min(whole, weigh(files, bytes))
    const elapsed = monotonicOf(clock) - began
    const bySpeed = done > 0 && elapsed >= 1_000 ? (elapsed * (whole - done)) / done : undefined
    const slow = slowest()
    const isLimited = slow !== undefined && slow.ms >= (bySpeed ?? 0)
    const ms = isLimited ? slow.ms : bySpeed
    const rule = isLimited ? limits()[slow.limit] : undefined
    return {
      files,
      of_files: load!.files,
      bytes: Math.max(0, Math.min(bytes, load!.bytes)),
      of_bytes: load!.bytes,
      part: whole === 0 ? 1 : done / whole,
      seconds_left: ms === undefined ? null : Math.ceil(ms / 1_000),
      limited_by: rule ? { limit: slow!.limit, ...rule } : null,
    }
  }

  function tell(): void {
    const now = monotonicOf(clock)
    if (!load || now - reportedAt < INTERVAL) return
    reportedAt = now
    emit({ event: 'progress', ...state() })
  }

  return {
    /** Starts with a plan; returns its minimum duration, and the limit that causes it. */
    begin(next: Load): Pick<Progress, 'limited_by'> & { seconds: number } {
      load = next
      left = new Map(next.requests)
      began = reportedAt = monotonicOf(clock)
      files = bytes = 0
      const { seconds_left, limited_by } = state()
      return { seconds: seconds_left ?? 0, limited_by }
    },
    onBytes(count: number): void {
      bytes += count
      tell()
    },
    onTransfer(): void {
      files += 1
      tell()
    },
    onRequest: (limit: string): void => void left.set(limit, Math.max(0, (left.get(limit) ?? 0) - 1)),
    /** Operations that fell out of their batch and are sent one by one. */
    onUnbatched(ops: readonly Op[]): void {
      for (const op of ops) {
        const limit = limitOf(op)
        if (limit !== undefined) left.set(limit, (left.get(limit) ?? 0) + 1)
      }
    },
    onWait(limit: string, ms: number): void {
      if (load) emit({ event: 'progress', ...state() })
      emit({ event: 'waiting', limit, ms })
      reportedAt = monotonicOf(clock)
    },
  }
}
