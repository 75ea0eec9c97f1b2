import type { Clock } from '../../../base/clock.ts'
import type { Op } from '../plan/plan-builder.ts'
import type { Progress, SyncEvent } from './events.ts'
import type { Limits } from '../../http/rate-limiter.ts'
import { limitOf } from '../apply/schedule.ts'

/** What a plan is about to move. */
export interface Load {
  files: number
  bytes: number
  /** Requests it needs, by the name of their limit. */
  requests: ReadonlyMap<string, number>
}

interface Parts {
  clock: Clock
  emit: (event: SyncEvent) => void
  limits: () => Limits
  /** Milliseconds until so many more requests of a limit are granted. */
  estimateWait: (limit: string, requests: number) => number
}

/** Between two events, in milliseconds. */
const INTERVAL = 250
/** What a file costs beside its content, in bytes of content that take as long. */
const PER_FILE = 16 * 1_024
/** Limits that hold a run up for less than this are not worth a word, in milliseconds. */
const WORTH_A_WORD = 5_000

/** Tells how far a run is, and how long it will take: by its own speed, or by what the server's limits let through, whichever is more. */
export function makeProgress({ clock, emit, limits, estimateWait }: Parts) {
  let began = clock.now()
  let told = began
  let load: Load | undefined
  let left = new Map<string, number>()
  let files = 0
  let bytes = 0

  const weigh = (ofFiles: number, ofBytes: number): number => ofFiles * PER_FILE + ofBytes

  /** The limit that lasts longest, with the milliseconds until it has let everything through. */
  function slowest(): { limit: string; ms: number } | undefined {
    const each = [...left].map(([limit, requests]) => ({ limit, ms: requests > 0 ? estimateWait(limit, requests) : 0 }))
    return each.filter(({ ms }) => ms >= WORTH_A_WORD).sort((a, b) => b.ms - a.ms)[0]
  }

  function state(): Progress {
    const whole = weigh(load!.files, load!.bytes)
    const done = Math.min(whole, weigh(files, bytes))
    const elapsed = clock.now() - began
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
    const now = clock.now()
    if (!load || now - told < INTERVAL) return
    told = now
    emit({ event: 'progress', ...state() })
  }

  return {
    /** Begins with a plan; returns how long it takes at least, and because of what. */
    begin(next: Load): Pick<Progress, 'limited_by'> & { seconds: number } {
      load = next
      left = new Map(next.requests)
      began = told = clock.now()
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
      told = clock.now()
    },
  }
}
