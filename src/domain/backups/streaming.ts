import { DAY, SECOND } from '../../base/clock.ts'
import { errorCode, fileProblem } from '../../base/errors.ts'
import { makeBackoff } from '../../base/retry.ts'
import { sleep } from '../../base/sleep.ts'
import type { Piece } from '../../storage/backups/backup-manifest.ts'
import { LostLock } from '../../storage/backups/lock.ts'
import type { ChapterWriter } from '../../storage/backups/chapter-writer.ts'
import type { StreamHead } from '../../storage/backups/stream-record.ts'
import type { PageChanges } from '../../storage/engine/page-stream.ts'
import { storeBase, type BaseContext } from './stream-base.ts'

/** How often the log of the database is read, ms: with the time to write a record, less than a second is lost. */
const COLLECT_EVERY = 300
/** How often it is looked whether there is something to write, ms. */
const STEP_EVERY = 50
/** How often a record is written where nothing changes, which proves that nothing changed. */
const MARK_EVERY = 10 * SECOND
/** Changes kept in memory while the target is slow, and while it cannot be written, in pages; about 256 and 64 MiB. With more, it gets a new base. */
const MAX_CHANGES = 65_536
const MAX_BACKLOG = 16_384
/** New contents that one record names, so that it can be read again: a collection after a long pause may find any number. */
const MAX_CONTENTS = 50_000
/** Delays between attempts to reach the target. */
const RETRY = { first: 250, longest: 10 * SECOND, jitter: 0.3 }

export interface StreamState {
  place: string
  /** When the first base of this run was complete, epoch ms; undefined before. */
  since: number | undefined
  /** Everything acknowledged before this time is in the target, epoch ms. */
  at: number | undefined
  /** Why the target cannot be written. */
  problem: string | undefined
  /** Contents that cannot be read, and are missing in the target. */
  missing: number
}

export interface StreamContext extends BaseContext {
  /** How long chapters are kept, in days. */
  days: number
  /** How long a chapter is continued, ms. */
  chapterLength?: number
  /** How often the log of the database is read, ms. */
  collectEvery?: number
  onState: (state: StreamState) => void
}

/** Follows a database, and writes what changes to a target. Its absence is reported and outlasted. */
class Streaming {
  readonly #context: StreamContext
  readonly #state: StreamState
  readonly #signal: AbortSignal
  readonly #backoff = makeBackoff(RETRY)
  #current: { writer: ChapterWriter; began: number } | undefined
  /** A chapter whose base is being copied. */
  #next: ChapterWriter | undefined
  /** Where the chapters before these two end. */
  #ends: Record<string, string> = {}
  /** The record that is being written, or the last one. */
  #writing: Promise<void> = Promise.resolve()
  #base: Promise<void> | undefined
  #isBaseDone = false
  #baseError: unknown
  #needsBase = true
  /** Changes that are not in the target yet. */
  #changes: PageChanges | undefined
  #blobs = new Map<string, number>()
  #missing = new Set<string>()
  #collectedAt: number
  #failure: unknown
  /** Whether the last attempt to write failed. */
  #isBroken = false
  #markedAt = -Infinity

  constructor(context: StreamContext, signal: AbortSignal) {
    this.#context = context
    this.#signal = signal
    this.#collectedAt = context.clock.now()
    this.#state = { place: context.target.place, since: undefined, at: undefined, problem: undefined, missing: 0 }
  }

  async run(): Promise<void> {
    const timer = setInterval(() => this.#collect(), this.#context.collectEvery ?? COLLECT_EVERY)
    try {
      while (!this.#signal.aborted) await this.#attempt()
      this.#collect()
      if (this.#state.problem === undefined) await this.#step().catch(() => undefined)
    } finally {
      clearInterval(timer)
      await this.#base
      await this.#current?.writer.close()
      await this.#next?.close()
      this.#report()
    }
  }

  async #attempt(): Promise<void> {
    let pause = STEP_EVERY
    try {
      if (this.#isBroken) await this.#recover()
      this.#isBroken = false
      await this.#step()
      // While only a new base is copied, nothing proves yet that the target can be written.
      if (this.#current || this.#isBaseDone) {
        this.#state.problem = undefined
        this.#backoff.reset()
      }
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure as Error
      this.#isBroken = true
      this.#state.problem = problemOf(error, this.#context.target.place)
      pause = this.#backoff.next() ?? RETRY.longest
    }
    this.#report()
    await sleep(pause, this.#signal).catch(() => undefined)
  }

  #report(): void {
    const { onState } = this.#context
    if (this.#current && !this.#changes && this.#state.problem === undefined) this.#state.at = this.#collectedAt
    onState({ ...this.#state, missing: this.#missing.size })
  }

  /** Reads what was committed since the last call. */
  #collect(): void {
    try {
      const at = this.#context.clock.now()
      this.#keep(this.#context.pages.next())
      this.#collectedAt = at
    } catch (error) {
      this.#failure = error
    }
  }

  #keep(changes: PageChanges | 'too-much' | undefined): void {
    const blobs = this.#context.pages.contents('new')
    // The next base will contain them.
    if (!this.#current && !this.#next) return
    for (const { sha256, size } of blobs) this.#blobs.set(sha256, size)
    if (changes === 'too-much') this.#lose()
    else if (changes) this.#changes = merge(this.#changes, changes)
    const most = this.#state.problem === undefined ? MAX_CHANGES : MAX_BACKLOG
    if ((this.#changes?.pages.size ?? 0) > most) this.#lose()
  }

  /** Gives up chapters that would lack changes: only a new base helps. */
  #lose(): void {
    const given = [this.#current?.writer, this.#next]
    this.#current = undefined
    this.#next = undefined
    for (const writer of given) void writer?.close().catch(() => undefined)
    this.#isBaseDone = false
    this.#changes = undefined
    this.#needsBase = true
  }

  /** After a failed write; a chapter that cannot be continued is given up. */
  async #recover(): Promise<void> {
    const { target } = this.#context
    try {
      await target.assertThere()
    } catch (error) {
      if (!(error instanceof LostLock)) throw error
      // Another process may have removed chapters, or begun later ones.
      this.#lose()
      await target.takeOver()
    }
    try {
      await this.#current?.writer.recover()
      await this.#next?.recover()
    } catch {
      this.#lose()
    }
  }

  /** Begins a chapter. Its base is copied while records go on. */
  async #beginNext(): Promise<void> {
    const { target, pages } = this.#context
    // Contents first: they may take long, and the base should not be older than necessary.
    const before = pages.contents('all')
    await target.adding(async (objects) => void (await objects.contents(before)))
    await target.assertThere()
    // Of a chapter that was given up too, although one of its records may not be written yet.
    await this.#writing.catch(() => undefined)
    this.#ends = await target.endEarlier(this.#current?.writer.chapter)
    const writer = await target.begin()
    this.#next = writer
    this.#needsBase = false
    this.#keep(pages.begin())
    const contents = pages.contents('all')
    const missing = await storeBase(this.#context, writer.chapter, contents, this.#signal)
    if (this.#next !== writer) return
    // All were tried again.
    this.#missing = new Set(missing)
    this.#isBaseDone = true
  }

  #beginBase(): void {
    this.#base ??= this.#beginNext()
      .catch(async (error: unknown) => {
        await this.#next?.close()
        this.#next = undefined
        this.#needsBase = true
        this.#baseError = error
      })
      .finally(() => (this.#base = undefined))
  }

  async #step(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure as Error
    if (this.#baseError !== undefined) {
      const error = this.#baseError
      this.#baseError = undefined
      throw error as Error
    }
    const { chapterLength = DAY } = this.#context
    const isOver = this.#current !== undefined && performance.now() - this.#current.began > chapterLength
    if ((this.#needsBase || isOver) && !this.#next && !this.#signal.aborted) this.#beginBase()
    if (!this.#current && !this.#next) return
    const completes = this.#isBaseDone
    // The records must contain whatever reached the file while it was copied.
    if (completes) this.#collect()
    const isDue = this.#changes !== undefined || completes || performance.now() - this.#markedAt > MARK_EVERY
    if (isDue) await this.#write(completes)
  }

  async #write(completes: boolean): Promise<void> {
    const [changes, blobs] = [this.#changes, this.#blobs]
    const at = changes?.at ?? this.#collectedAt
    this.#changes = undefined
    this.#blobs = new Map()
    try {
      await this.#context.target.assertThere()
      this.#writing = this.#append(changes, { at, blobs, completes })
      await this.#writing
    } catch (error) {
      this.#blobs = new Map([...blobs, ...this.#blobs])
      // While it was tried, the chapters may have been given up.
      if (changes && (this.#current || this.#next)) this.#changes = merge(changes, this.#changes ?? changes)
      throw error
    }
    this.#markedAt = performance.now()
    if (completes && this.#next) await this.#switchOver(this.#next)
    if (this.#current) this.#state.at = at
  }

  async #append(
    changes: PageChanges | undefined,
    { at, blobs, completes }: { at: number; blobs: ReadonlyMap<string, number>; completes: boolean },
  ): Promise<void> {
    const pieces = [...blobs].map(([sha256, size]) => ({ sha256, size }))
    // Records without pages lead to no later moment.
    const earlier = { at: this.#state.at ?? at, pageCount: 0, completes: false }
    while (pieces.length > MAX_CONTENTS) await this.#appendOne(earlier, new Map(), pieces.splice(0, MAX_CONTENTS))
    const head = { at, pageCount: changes?.pageCount ?? 0, completes }
    await this.#appendOne(head, changes?.pages ?? new Map<number, Uint8Array>(), pieces)
  }

  /** Stores contents, and then the record that names them. */
  async #appendOne(
    { completes, ...head }: Pick<StreamHead, 'at' | 'pageCount' | 'completes'>,
    pages: ReadonlyMap<number, Uint8Array>,
    pieces: readonly Piece[],
  ): Promise<void> {
    const append = async (missing: ReadonlySet<string>): Promise<void> => {
      const stored = pieces.filter(({ sha256 }) => !missing.has(sha256))
      for (const { sha256 } of stored) this.#missing.delete(sha256)
      for (const sha256 of missing) this.#missing.add(sha256)
      const named = { ...head, blobs: stored, missing: [...missing] }
      await this.#current?.writer.append({ ...named, completes: false }, pages)
      await this.#next?.append({ ...named, completes, ...(completes ? { ends: this.#endsBefore() } : {}) }, pages)
    }
    if (pieces.length === 0) return append(new Set())
    return this.#context.target.adding(async (objects) => append(await objects.contents(pieces)))
  }

  /** The last tags of the chapters before the next one, which are not written to after it takes over. */
  #endsBefore(): Record<string, string> {
    const current = this.#current?.writer
    return current ? { ...this.#ends, [current.chapter.name]: current.end() } : this.#ends
  }

  /** The next chapter becomes the current one. */
  async #switchOver(writer: ChapterWriter): Promise<void> {
    const { target, clock, days } = this.#context
    await this.#current?.writer.close()
    this.#current = { writer, began: performance.now() }
    this.#next = undefined
    this.#isBaseDone = false
    this.#state.since ??= clock.now()
    await target.removeOld(days, clock.now())
  }
}

/** An error of writing, which names the target instead of a file in it. */
function problemOf(error: unknown, place: string): string {
  const { path = place, message } = error as NodeJS.ErrnoException
  const named = Object.assign(new Error(message), {
    code: errorCode(error),
    path: path.startsWith(place) ? place : path,
  })
  return fileProblem(named) ?? message
}

const merge = (earlier: PageChanges | undefined, later: PageChanges): PageChanges =>
  earlier ? { ...later, pages: new Map([...earlier.pages, ...later.pages]) } : later

/** Streams until the signal is aborted. Throws if the database cannot be followed any more. */
export const stream = (context: StreamContext, signal: AbortSignal): Promise<void> =>
  new Streaming(context, signal).run()
