import { existsSync } from 'node:fs'
import { MINUTE, monotonicOf, type Clock } from '../../base/clock.ts'
import { contract } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { MAX_WAIT } from '../../contract/limits.ts'
import { isLocked } from '../../host/file-lock.ts'
import type { Api } from '../api.ts'
import type { Summary } from './report/events.ts'
import { FILES } from './remote/delta.ts'
import type { FeedPosition } from './remote/remote-listing.ts'
import { watchFolder } from './local/watcher.ts'
import { takeLock } from './state/root-lock.ts'
import { makeThrottle } from '../http/throttle.ts'
import { ownFile } from './state/root.ts'
import type { Limits } from '../http/rate-limiter.ts'
import { makeDebounce } from './local/debounce.ts'
import type { SkipCode } from './plan/sync-tree.ts'
import { isTemporary, makeConnectivity } from '../http/connectivity.ts'
import { Refused } from '../refused.ts'
import { FolderLocked } from './sync-errors.ts'
import { type Sleep, interruptibleSleep } from '../../base/sleep.ts'

const { delta } = contract.syncData.actions
const { capabilities } = contract.syncStatus.actions

/** Events of the watcher itself, in addition to those of its runs. */
export type WatchEvent =
  | { event: 'watching'; root: string }
  /** The server is not reachable; requests are repeated until it is. */
  | { event: 'offline'; message: string }
  | { event: 'online' }
  /** A folder is paused until a full run succeeds again. */
  | { event: 'paused'; root: string; reason: string; message: string }
  | { event: 'resumed'; root: string }
  /** Queued changes of rows were sent; `rejected` of them need a decision. */
  | { event: 'rows'; sent: number; rejected: number }
  /** The system does not report all changes in a folder: it is scanned more often. */
  | { event: 'blind'; root: string; message: string }

export interface WatchOptions {
  /** Absolute paths of synchronised folders of one account. */
  roots: readonly string[]
  api: Api
  /** Synchronises a folder once. */
  run: (root: string, heard: (at: FeedPosition) => void, signal: AbortSignal) => Promise<Summary>
  clock: Clock
  sleep: Sleep
  /** From 0 to 1. */
  random: () => number
  signal: AbortSignal
  emit: (event: WatchEvent) => void
  /** The account's rows, synchronised beside the folders. */
  rows?: { send(): Promise<void>; learn(page: unknown, since: number): Promise<void> }
}

/** Interval of full scans even without a change hint. */
const FULL_MS = 10 * MINUTE
/** The interval if hints are unreliable, or if something failed that may succeed later. */
const SOON_MS = MINUTE
const LATER = new Set<SkipCode>([
  'busy',
  'damaged',
  'failed',
  'no_space',
  'quota',
  'read_only',
  'refused',
  'unreadable',
])
/** Delay while another run has the folder, ms. */
const HELD_MS = 2_000
/** Long polls use at most this share of the server's limit; the rest is for runs. */
const SHARE = 0.6
/** How long to wait for runs to catch up before the next poll, in milliseconds and steps. */
const CATCH_UP = { ms: 100, steps: 20 }

/**
 * Keeps folders in sync until the signal is aborted, then rejects with its reason. Waits while the server is not
 * reachable; a folder refused for safety is paused and others continue. Rejects if the account loses access.
 */
export async function watchRoots(options: WatchOptions): Promise<never> {
  const stop = new AbortController()
  const { signal } = stop
  const ended = (): void => stop.abort(options.signal.reason)
  options.signal.addEventListener('abort', ended, { once: true })
  const connectivity = makeConnectivity({
    ...options,
    signal,
    lost: ({ message }) => options.emit({ event: 'offline', message }),
    back: () => options.emit({ event: 'online' }),
  })
  const parts: Parts = { ...options, signal, connectivity }
  const watched = options.roots.map((root) => makeWatched(root, parts))
  const loops = [...watched.map((each) => each.keep()), listen(parts, watched)]
  try {
    return await Promise.race(loops)
  } finally {
    options.signal.removeEventListener('abort', ended)
    stop.abort(new Error('Another part of watching ended.'))
    await Promise.allSettled(loops)
    for (const each of watched) each.close()
  }
}

interface Parts extends WatchOptions {
  connectivity: ReturnType<typeof makeConnectivity>
}

type Watched = ReturnType<typeof makeWatched>

function makeWatched(root: string, { run, clock, sleep, signal, emit, connectivity }: Parts) {
  const debounce = makeDebounce()
  let wake: () => void = () => undefined
  let every = FULL_MS
  let paused: string | undefined
  /** Whether the last run left something for later. */
  let unfinished = false
  let at: FeedPosition | undefined
  let listening = watchFolder(root, { onChange, onWatchFailure })

  function onChange(kind: Parameters<typeof debounce.add>[0]): void {
    debounce.add(kind, monotonicOf(clock))
    wake()
  }

  function onWatchFailure({ message }: Error): void {
    if (every !== SOON_MS) emit({ event: 'blind', root, message })
    every = SOON_MS
  }

  /** Sleeps until the next run is due; a change hint ends it early. */
  async function untilDue(): Promise<void> {
    const full = monotonicOf(clock) + (unfinished || paused !== undefined ? SOON_MS : every)
    for (;;) {
      // A paused folder is retried by full scans only.
      const due = Math.min(full, paused === undefined ? (debounce.due() ?? full) : full)
      const ms = due - monotonicOf(clock)
      if (ms <= 0) return
      await interruptibleSleep(sleep, ms, signal, (woken) => (wake = woken))
    }
  }

  async function once(): Promise<void> {
    debounce.clear()
    const through = connectivity.attempt()
    try {
      const { skipped } = await run(root, (heard) => (at = heard), signal)
      unfinished = skipped.some(({ code }) => LATER.has(code))
      through()
      if (paused === undefined) return
      paused = undefined
      listening.close()
      listening = watchFolder(root, { onChange, onWatchFailure })
      emit({ event: 'resumed', root })
    } catch (error) {
      signal.throwIfAborted()
      if (isTemporary(error)) {
        await connectivity.backOff(error)
        debounce.add('news', monotonicOf(clock))
      } else if (error instanceof FolderLocked) {
        await sleep(HELD_MS, signal)
        debounce.add('news', monotonicOf(clock))
      } else if (isFault(error) && error.status === 401) throw error
      else {
        const { message } = error as Error
        if (paused !== message) emit({ event: 'paused', root, reason: reasonOf(error), message })
        paused = message
      }
    }
  }

  return {
    /** The last known feed position. */
    at: () => at,
    news: () => onChange('news'),
    close: () => listening.close(),
    async keep(): Promise<never> {
      emit({ event: 'watching', root })
      for (;;) {
        await once()
        await untilDue()
      }
    },
  }
}

/** Marks folders as watched until the returned function is called. Throws `FolderLocked` if one already is. */
export function lockWatched(roots: readonly string[]): () => void {
  const holds: (() => void)[] = []
  const letGo = (): void => holds.forEach((release) => release())
  try {
    for (const root of roots) if (existsSync(ownFile(root))) holds.push(takeLock(watchLock(root)))
  } catch (error) {
    letGo()
    if (error instanceof FolderLocked)
      throw new FolderLocked('Another svc sync --watch already watches a folder: one is enough.')
    throw error
  }
  return letGo
}

/** Whether a `svc sync --watch` covers a folder. */
export const isWatched = (root: string): boolean => isLocked(watchLock(root))

const watchLock = (root: string): string => ownFile(root, 'watch')

const reasonOf = (error: unknown): string =>
  error instanceof Refused ? error.reason : String((error as { code?: unknown }).code ?? 'failed')

/** Long-polls for all folders at once: they belong to one account. */
async function listen(parts: Parts, watched: readonly Watched[]): Promise<never> {
  const { api, clock, sleep, signal, connectivity } = parts
  let limits: Limits | undefined
  const { throttle } = makeThrottle({ limits: () => limits ?? {}, calls: {}, clock, sleep, signal })
  let at: FeedPosition | undefined
  /** Positions of runs that the server no longer continues from; a paused folder keeps its own. */
  const outdated = new WeakSet<FeedPosition>()
  const positions = (): FeedPosition[] => watched.flatMap((each) => each.at() ?? [])
  for (;;) {
    const current = positions().filter((each) => !outdated.has(each))
    const newest = (current.length > 0 ? current : positions()).reduce<FeedPosition | undefined>(later, undefined)
    at = newest && (at === undefined || at.epoch !== newest.epoch || at.cursor < newest.cursor) ? newest : at
    if (!at) {
      await sleep(200, signal)
      continue
    }
    const through = connectivity.attempt()
    try {
      await parts.rows?.send()
      limits ??= shareOf((await api.call(capabilities, {}, { signal })).limits)
      const { cursor, epoch } = at
      const params = { cursor, wait: MAX_WAIT, ...(epoch === '' ? {} : { epoch }) }
      const timeout = (MAX_WAIT + 20) * 1_000
      const page = await throttle(delta, () => api.call(delta, params, { signal, timeout }))
      through()
      await parts.rows?.learn(page, cursor)
      const files = page.changes.some(({ table }) => table === FILES)
      const reached = Math.max(cursor, page.cursor)
      at = { cursor: reached, epoch }
      const behind = (): Watched[] => watched.filter((each) => files && (each.at()?.cursor ?? 0) < reached)
      for (const each of behind()) each.news()
      // Runs see the newest state, so the next poll starts there.
      for (let step = 0; step < CATCH_UP.steps && behind().length > 0; step += 1) await sleep(CATCH_UP.ms, signal)
      // A page without progress would be requested again at once.
      if (page.cursor <= cursor && page.changes.length > 0) await sleep(HELD_MS, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (isTemporary(error)) await connectivity.backOff(error)
      else if (isFault(error, 'epoch_mismatch') || isFault(error, 'cursor_expired')) {
        // The runs handle it; then there is a new position to poll from.
        for (const each of positions()) if (each.epoch === at.epoch) outdated.add(each)
        at = undefined
        for (const each of watched) each.news()
        await sleep(HELD_MS, signal)
      } else if (isFault(error) && [401, 403].includes(error.status)) throw error
      else {
        // A local problem, such as a full disk: the runs report it.
        for (const each of watched) each.news()
        await sleep(SOON_MS, signal)
      }
    }
  }
}

const shareOf = (limits: Limits): Limits => {
  const rule = limits[delta.limit]
  return rule && rule.max > 0 && rule.per > 0
    ? { [delta.limit]: { max: Math.max(1, Math.floor(rule.max * SHARE)), per: rule.per } }
    : {}
}

const later = (one: FeedPosition | undefined, other: FeedPosition): FeedPosition =>
  one && one.cursor > other.cursor ? one : other
