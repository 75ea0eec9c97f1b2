import { existsSync } from 'node:fs'
import { MINUTE, type Clock } from '../../base/clock.ts'
import { contract } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { MAX_WAIT } from '../../contract/limits.ts'
import type { Api } from '../api.ts'
import { doze } from './doze.ts'
import type { Summary } from './events.ts'
import { FILES } from './feed-tree.ts'
import type { Heard } from './listing.ts'
import { listenTo } from './local-events.ts'
import { isLocked, takeLock } from './lock.ts'
import { makePace, type Sleep } from './pace.ts'
import { Held, Refused } from './refusals.ts'
import { ownFile } from './root.ts'
import type { Limits } from './turns.ts'
import { makeSettling } from './settling.ts'
import type { SkipCode } from './tree.ts'
import { isTemporary, makeWeather } from './weather.ts'

const { delta } = contract.syncData.actions
const { capabilities } = contract.syncStatus.actions

/** What watching itself tells, beside what its runs do. */
export type WatchEvent =
  | { event: 'watching'; root: string }
  /** The server is away; it is asked again until it is back. */
  | { event: 'offline'; message: string }
  | { event: 'online' }
  /** A folder is left alone until a full run finds it in order again. */
  | { event: 'paused'; root: string; reason: string; message: string }
  | { event: 'resumed'; root: string }
  /** Changes of rows were sent that had waited; `letters` of them need a decision. */
  | { event: 'rows'; sent: number; letters: number }
  /** The system does not tell of all changes in a folder: it is looked through more often. */
  | { event: 'blind'; root: string; message: string }

export interface WatchOptions {
  /** Absolute paths of synchronised folders of one account. */
  roots: readonly string[]
  api: Api
  /** Brings a folder and the account together once. */
  run: (root: string, heard: (at: Heard) => void, signal: AbortSignal) => Promise<Summary>
  clock: Clock
  sleep: Sleep
  /** From 0 to 1. */
  random: () => number
  signal: AbortSignal
  emit: (event: WatchEvent) => void
  /** The account's rows, which go out and come in beside the folders. */
  rows?: { send(): Promise<void>; heard(page: unknown, since: number): Promise<void> }
}

/** A folder is looked through this often even when no sign of change was seen. */
const FULL_MS = 10 * MINUTE
/** The same where signs are missing, or where something could not be done and may be possible later. */
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
/** Another run has the folder. */
const HELD_MS = 2_000
/** Questions for news keep to this share of what the server takes, if it has a limit: the rest is for runs. */
const SHARE = 0.6
/** How long runs may take to catch up before there is the next question, in milliseconds and steps. */
const CATCH_UP = { ms: 100, steps: 20 }

/**
 * Keeps folders in step until the signal is aborted, and then rejects with its reason. Waits for the server as long as it is away;
 * a folder that is refused for safety is left alone, others go on. Rejects when the account is not let in any more.
 */
export async function watchRoots(options: WatchOptions): Promise<never> {
  const stop = new AbortController()
  const { signal } = stop
  const ended = (): void => stop.abort(options.signal.reason)
  options.signal.addEventListener('abort', ended, { once: true })
  const weather = makeWeather({
    ...options,
    signal,
    lost: ({ message }) => options.emit({ event: 'offline', message }),
    back: () => options.emit({ event: 'online' }),
  })
  const parts: Parts = { ...options, signal, weather }
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
  weather: ReturnType<typeof makeWeather>
}

type Watched = ReturnType<typeof makeWatched>

function makeWatched(root: string, { run, clock, sleep, signal, emit, weather }: Parts) {
  const settling = makeSettling()
  let wake: () => void = () => undefined
  let every = FULL_MS
  let paused: string | undefined
  /** Whether the last run left something for later. */
  let unfinished = false
  let at: Heard | undefined
  let listening = listenTo(root, { sign, blind })

  function sign(kind: Parameters<typeof settling.note>[0]): void {
    settling.note(kind, clock.now())
    wake()
  }

  function blind({ message }: Error): void {
    if (every !== SOON_MS) emit({ event: 'blind', root, message })
    every = SOON_MS
  }

  /** Sleeps until it is time for a run; a sign of change cuts it short. */
  async function untilDue(): Promise<void> {
    const full = clock.now() + (unfinished || paused !== undefined ? SOON_MS : every)
    for (;;) {
      // What is paused is looked at by full runs alone: signs do not put it in order.
      const due = Math.min(full, paused === undefined ? (settling.due() ?? full) : full)
      const ms = due - clock.now()
      if (ms <= 0) return
      await doze(sleep, ms, signal, (woken) => (wake = woken))
    }
  }

  async function once(): Promise<void> {
    settling.clear()
    const through = weather.attempt()
    try {
      const { skipped } = await run(root, (heard) => (at = heard), signal)
      unfinished = skipped.some(({ code }) => LATER.has(code))
      through()
      if (paused === undefined) return
      paused = undefined
      listening.close()
      listening = listenTo(root, { sign, blind })
      emit({ event: 'resumed', root })
    } catch (error) {
      signal.throwIfAborted()
      if (isTemporary(error)) {
        await weather.sitOut(error)
        settling.note('news', clock.now())
      } else if (error instanceof Held) {
        await sleep(HELD_MS, signal)
        settling.note('news', clock.now())
      } else if (isFault(error) && error.status === 401) throw error
      else {
        const { message } = error as Error
        if (paused !== message) emit({ event: 'paused', root, reason: reasonOf(error), message })
        paused = message
      }
    }
  }

  return {
    /** Where the feed stood at the last look. */
    at: () => at,
    news: () => sign('news'),
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

/** Marks folders as watched until the function it returns is called. Throws `Held` when one is already. */
export function holdWatched(roots: readonly string[]): () => void {
  const holds: (() => void)[] = []
  const letGo = (): void => holds.forEach((release) => release())
  try {
    for (const root of roots) if (existsSync(ownFile(root))) holds.push(takeLock(watchLock(root)))
  } catch (error) {
    letGo()
    if (error instanceof Held) throw new Held('A folder is watched by another svc sync --watch already: one is enough.')
    throw error
  }
  return letGo
}

/** Whether a `svc sync --watch` looks after a folder now. */
export const isWatched = (root: string): boolean => isLocked(watchLock(root))

const watchLock = (root: string): string => ownFile(root, 'watch')

const reasonOf = (error: unknown): string =>
  error instanceof Refused ? error.reason : String((error as { code?: unknown }).code ?? 'failed')

/** Waits at the server for news, for all folders at once: they are the same account's. */
async function listen(parts: Parts, watched: readonly Watched[]): Promise<never> {
  const { api, clock, sleep, signal, weather } = parts
  let limits: Limits | undefined
  const { pace } = makePace({ limits: () => limits ?? {}, calls: {}, clock, sleep, signal })
  let at: Heard | undefined
  for (;;) {
    const newest = watched.flatMap((each) => each.at() ?? []).reduce<Heard | undefined>(later, undefined)
    at = newest && (at === undefined || at.epoch !== newest.epoch || at.cursor < newest.cursor) ? newest : at
    if (!at) {
      await sleep(200, signal)
      continue
    }
    const through = weather.attempt()
    try {
      await parts.rows?.send()
      limits ??= shareOf((await api.call(capabilities, {}, { signal })).limits)
      const { cursor, epoch } = at
      const params = { cursor, wait: MAX_WAIT, ...(epoch === '' ? {} : { epoch }) }
      const timeout = (MAX_WAIT + 20) * 1_000
      const page = await pace(delta, () => api.call(delta, params, { signal, timeout }))
      through()
      await parts.rows?.heard(page, cursor)
      const files = page.changes.some(({ table }) => table === FILES)
      const reached = Math.max(cursor, page.cursor)
      at = { cursor: reached, epoch }
      const behind = (): Watched[] => watched.filter((each) => files && (each.at()?.cursor ?? 0) < reached)
      for (const each of behind()) each.news()
      // Runs see what is newest, so that the next question need not bring it piece by piece.
      for (let step = 0; step < CATCH_UP.steps && behind().length > 0; step += 1) await sleep(CATCH_UP.ms, signal)
      // A page that is no step on would be asked for again at once.
      if (page.cursor <= cursor && page.changes.length > 0) await sleep(HELD_MS, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (isTemporary(error)) await weather.sitOut(error)
      else if (isFault(error, 'epoch_mismatch') || isFault(error, 'cursor_expired')) {
        // The runs find out what it means; then there is a new place to listen from.
        at = undefined
        for (const each of watched) each.news()
        await sleep(HELD_MS, signal)
      } else throw error
    }
  }
}

const shareOf = (limits: Limits): Limits => {
  const rule = limits[delta.limit]
  return rule && rule.max > 0 && rule.per > 0
    ? { [delta.limit]: { max: Math.max(1, Math.floor(rule.max * SHARE)), per: rule.per } }
    : {}
}

const later = (one: Heard | undefined, other: Heard): Heard => (one && one.cursor > other.cursor ? one : other)
