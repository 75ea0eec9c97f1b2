import { setMaxListeners } from 'node:events'
import { Busy } from '../../base/errors.ts'
import { randomHex } from '../../base/random.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import { IndexDamaged, type IndexedDocument, type SearchIndex } from '../../storage/search/search-index.ts'
import {
  postponedRows,
  postponeRows,
  queuedRows,
  unqueueRows,
  type QueuedRow,
} from '../../storage/search/search-queue.ts'
import {
  goneScopes,
  searchedTables,
  searchKey,
  searchSources,
  type SearchSource,
} from '../../storage/search/search-sources.ts'
import { findFact, putFact } from '../../storage/instance/settings.ts'
import { yieldToOthers } from '../turn.ts'
import { hasText, textOfFile } from './file-text.ts'
import { termsOfDocument } from './search-terms.ts'

interface Parts {
  /** The database without the caller's authority check. */
  database: Database
  contents: Pick<Contents, 'read'>
  index: SearchIndex
  epoch: string
}

/** Stored with the index. */
interface Progress {
  /** Also stored in the database: an index of another database, or of an earlier state of this one, is not used. */
  id: string
  /** Where building continues; undefined when every row was indexed. */
  next?: { table: string; after: number }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Increase it to have every index built again. */
const VERSION = 2
const FACT = 'search_index'
/** Rows at a time: few, because their texts are read on the event loop. */
const BATCH = 16
/** Waiting time after each step, as a multiple of its duration: requests go first. */
const REST = 5
/** How often the queue is looked at, how long after a failure, and how often documents of removed accounts are, ms. */
const POLL_MS = 1_000
const FAILURE_MS = 15_000
const SWEEP_MS = 3_600_000
/** How long a store that did not answer is not asked again, and after which contents that it could not give are, ms. */
const STORE_AWAY_MS = 60_000
const UNREADABLE_MS = 3_600_000
/** Below the IDs of all files that wait to be read again. */
const FIRST = Number.MIN_SAFE_INTEGER

const parsed = (text: string | undefined): Progress | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as Progress)

/** Makes documents of rows; of files that are text with their content. */
function makeReader(contents: Parts['contents'], closing: AbortSignal) {
  let awayUntil = 0
  const isAway = () => Date.now() < awayUntil

  /** The text of a file; undefined if its content cannot be read now. */
  async function contentOf({ title: name, size, sha256 }: SearchSource): Promise<string | undefined> {
    if (sha256 === null || !hasText({ name, size })) return ''
    // A store that is silent is not waited for.
    if (isAway()) return undefined
    try {
      return await textOfFile(contents, sha256, closing)
    } catch (error) {
      closing.throwIfAborted()
      if (error instanceof Busy) awayUntil = Date.now() + STORE_AWAY_MS
      return undefined
    }
  }

  return {
    isAway,
    /** Documents of rows, and the files of which they have only the names, because their contents cannot be read now. */
    async documentsOf(table: string, sources: readonly SearchSource[]) {
      const documents: IndexedDocument[] = []
      const unread: number[] = []
      for (const source of sources) {
        const text = table === 'nodes' ? await contentOf(source) : source.text
        if (text === undefined) unread.push(source.row)
        const terms = await termsOfDocument({ ...source, text: text ?? '', table })
        documents.push({ key: searchKey(table, source.row), scope: source.scope, terms })
        await yieldToOthers()
      }
      return { documents, unread }
    },
  }
}

/** Retries of files whose content could not be read. They wait in the queue, so that no stop of the server forgets them. */
function makeRetries(database: Database, isAway: () => boolean) {
  let retryAt = 0
  let after = FIRST
  return {
    /** The next of them; undefined while it is not yet time. */
    due: async (limit = BATCH) => (Date.now() < retryAt ? undefined : postponedRows(database.read, after, limit)),
    /** Plans the next retry, after some were `tried` and others were `added`. */
    plan(tried: readonly QueuedRow[] | undefined, added: number): void {
      const now = Date.now()
      if (isAway() || (tried && tried.length < BATCH)) {
        after = FIRST
        retryAt = now + (isAway() ? STORE_AWAY_MS : UNREADABLE_MS)
      } else if (tried) after = tried.at(-1)!.id
      if (added > 0) retryAt = Math.min(retryAt, now + STORE_AWAY_MS)
    },
  }
}

/** The steps of indexing. Each leaves the index in a state from which any process can go on. */
function makeSteps({ database, contents, index, epoch }: Parts, closing: AbortSignal) {
  const { documentsOf, isAway } = makeReader(contents, closing)
  const retries = makeRetries(database, isAway)

  /** Begins an empty index; what is queued will be read with everything else. */
  async function begin(): Promise<Progress> {
    const id = `${VERSION}:${epoch}:${randomHex(8)}`
    const progress: Progress = { id, next: { table: searchedTables[0]!, after: 0 } }
    await index.clear(JSON.stringify(progress))
    await database.write({ keys: ['search'] }, (tx) => putFact(tx, FACT, id))
    return progress
  }

  return {
    begin,
    async progress(): Promise<Progress> {
      const progress = parsed(await index.state())
      const isOwn =
        progress?.id.startsWith(`${VERSION}:${epoch}:`) && (await findFact(database.read, FACT)) === progress.id
      return progress && isOwn ? progress : begin()
    },
    /** Indexes queued rows; returns whether there may be more. */
    async followQueue(): Promise<boolean> {
      const changed = await queuedRows(database.read, BATCH)
      const retried = await retries.due()
      const queued = [...changed, ...(retried ?? [])]
      const update = { documents: [] as IndexedDocument[], gone: [] as number[] }
      const unread = new Set<number>()
      for (const table of searchedTables) {
        const ids = [...new Set(queued.filter(({ tbl }) => tbl === table).map(({ row_id }) => row_id))]
        if (ids.length === 0) continue
        const found = await searchSources(database.read, table, { ids })
        const made = await documentsOf(table, found)
        update.documents.push(...made.documents)
        for (const file of made.unread) unread.add(file)
        const present = new Set(found.map(({ row }) => row))
        update.gone.push(...ids.filter((id) => !present.has(id)).map((id) => searchKey(table, id)))
      }
      if (queued.length > 0) {
        if (!(await index.update(update))) return false
        const done = queued.filter(({ id, row_id }) => id > 0 || !unread.has(row_id))
        await database.write({ keys: ['search'] }, async (tx) => {
          if (done.length > 0) await unqueueRows(tx, done)
          if (unread.size > 0) await postponeRows(tx, [...unread])
        })
      }
      for (const { row_id } of retried ?? []) unread.delete(row_id)
      retries.plan(retried, unread.size)
      return queued.length > 0
    },
    /** Indexes the next rows of all; returns the progress, undefined if another server continues. */
    async build({ id, next }: Progress): Promise<Progress | undefined> {
      if (!next) return { id }
      const found = await searchSources(database.read, next.table, { after: next.after, limit: BATCH })
      const { documents, unread } = await documentsOf(next.table, found)
      if (unread.length > 0) await database.write({ keys: ['search'] }, (tx) => postponeRows(tx, unread))
      retries.plan(undefined, unread.length)
      const table = found.length > 0 ? next.table : searchedTables[searchedTables.indexOf(next.table) + 1]
      const progress = { id, ...(table !== undefined && { next: { table, after: found.at(-1)?.row ?? 0 } }) }
      return (await index.update({ documents, gone: [], state: JSON.stringify(progress) })) ? progress : undefined
    },
    isDue: async () => (await queuedRows(database.read, 1)).length > 0 || ((await retries.due(1)) ?? []).length > 0,
    /** Removes documents of accounts and rooms that are gone. */
    async sweep(): Promise<void> {
      for (const scope of await goneScopes(database.read, await index.scopes()))
        while (!closing.aborted && (await index.removeSome(scope)));
    },
  }
}

/** Keeps the search index up to date, and builds it when it is new or damaged. */
export function makeIndexer(parts: Parts) {
  const { index, epoch } = parts
  const closing = new AbortController()
  // One listener per file being read.
  setMaxListeners(0, closing.signal)
  const steps = makeSteps(parts, closing.signal)
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let sweptAt = 0
  let isDamaged = false
  /** Whether this process has nothing to do but follow the queue. */
  let isIdle = false

  async function run(): Promise<void> {
    if (isIdle && !isDamaged && !(await steps.isDue())) return
    isIdle = false
    if (!(await index.acquire())) return
    let progress: Progress | undefined = isDamaged ? await steps.begin() : await steps.progress()
    isDamaged = false
    if (Date.now() - sweptAt > SWEEP_MS) {
      await steps.sweep()
      sweptAt = Date.now()
    }
    for (let isQueued = true; progress && (isQueued || progress.next) && !closing.signal.aborted;) {
      const began = Date.now()
      isQueued = await steps.followQueue()
      progress = await steps.build(progress)
      await sleep(REST * (Date.now() - began))
    }
    isIdle = progress !== undefined
  }

  /** Runs, and again after a while. A damaged index is begun anew. */
  function cycle(report: (error: Error) => void): void {
    running = run()
      .then(
        () => POLL_MS,
        (error: Error) => {
          // Waits until the database is back.
          if (!(error instanceof Busy)) report(error)
          isDamaged ||= error instanceof IndexDamaged
          return error instanceof IndexDamaged ? POLL_MS : FAILURE_MS
        },
      )
      .then((delay) => {
        running = undefined
        if (closing.signal.aborted) return
        timer = setTimeout(() => cycle(report), delay)
        timer.unref()
      })
  }

  return {
    start(afterMs: number, report: (error: Error) => void): void {
      timer = setTimeout(() => cycle(report), afterMs)
      timer.unref()
    },
    /** Has a damaged index built again. */
    noteDamage(): void {
      isDamaged = true
    },
    /** Whether every row was indexed. */
    async isComplete(): Promise<boolean> {
      const progress = parsed(await index.state())
      return progress !== undefined && progress.next === undefined && progress.id.includes(`:${epoch}:`)
    },
    async close(): Promise<void> {
      closing.abort(new Busy('The server is stopping.'))
      clearTimeout(timer)
      await running
      await index.close()
    },
  }
}
