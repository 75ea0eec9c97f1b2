import { setMaxListeners } from 'node:events'
import { Busy } from '../../base/errors.ts'
import { randomHex } from '../../base/random.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import { IndexDamaged, type IndexedDocument, type SearchIndex } from '../../storage/search/search-index.ts'
import { queuedRows, unqueueRows } from '../../storage/search/search-queue.ts'
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
/** How long a store that did not answer is not asked again, ms, and how many files wait for it. */
const STORE_AWAY_MS = 60_000
const MAX_POSTPONED = 100_000

const parsed = (text: string | undefined): Progress | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as Progress)

/** Makes documents of rows; of files that are text with their content. */
function makeReader(contents: Parts['contents'], closing: AbortSignal) {
  let awayUntil = 0
  /** Files whose content could not be read while the store was away. */
  const postponed = new Set<number>()

  async function contentOf({ row, title: name, size, sha256 }: SearchSource): Promise<string> {
    if (sha256 === null || !hasText({ name, size })) return ''
    if (Date.now() >= awayUntil)
      try {
        return await textOfFile(contents, sha256, closing)
      } catch (error) {
        // A store that is silent is not waited for; the file stays in the queue.
        closing.throwIfAborted()
        // A content that is missing or was replaced meanwhile: the file is found by its name.
        if (!(error instanceof Busy)) return ''
        awayUntil = Date.now() + STORE_AWAY_MS
      }
    if (postponed.size < MAX_POSTPONED) postponed.add(row)
    return ''
  }

  return {
    async documentsOf(table: string, sources: readonly SearchSource[]): Promise<IndexedDocument[]> {
      const documents: IndexedDocument[] = []
      for (const source of sources) {
        const text = table === 'nodes' ? await contentOf(source) : source.text
        const terms = await termsOfDocument({ ...source, text, table })
        documents.push({ key: searchKey(table, source.row), scope: source.scope, terms })
        await yieldToOthers()
      }
      return documents
    },
    hasPostponed: () => postponed.size > 0 && Date.now() >= awayUntil,
    /** Some of the files to be read again, once the store is back. */
    takePostponed(): number[] {
      if (postponed.size === 0 || Date.now() < awayUntil) return []
      const some = [...postponed].slice(0, BATCH)
      for (const row of some) postponed.delete(row)
      return some
    },
  }
}

/** The steps of indexing. Each leaves the index in a state from which any process can go on. */
function makeSteps({ database, contents, index, epoch }: Parts, closing: AbortSignal) {
  const { documentsOf, hasPostponed, takePostponed } = makeReader(contents, closing)

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
      const queued = await queuedRows(database.read, BATCH)
      const postponed = takePostponed()
      if (queued.length + postponed.length === 0) return false
      const documents: IndexedDocument[] = []
      const gone: number[] = []
      for (const table of searchedTables) {
        const changed = queued.filter(({ tbl }) => tbl === table).map(({ row_id }) => row_id)
        const ids = [...new Set(table === 'nodes' ? [...changed, ...postponed] : changed)]
        if (ids.length === 0) continue
        const found = await searchSources(database.read, table, { ids })
        documents.push(...(await documentsOf(table, found)))
        const present = new Set(found.map(({ row }) => row))
        gone.push(...ids.filter((id) => !present.has(id)).map((id) => searchKey(table, id)))
      }
      if (!(await index.update({ documents, gone }))) return false
      if (queued.length > 0) await database.write({ keys: ['search'] }, (tx) => unqueueRows(tx, queued))
      return true
    },
    /** Indexes the next rows of all; returns the progress, undefined if another server continues. */
    async build({ id, next }: Progress): Promise<Progress | undefined> {
      if (!next) return { id }
      const found = await searchSources(database.read, next.table, { after: next.after, limit: BATCH })
      const documents = await documentsOf(next.table, found)
      const table = found.length > 0 ? next.table : searchedTables[searchedTables.indexOf(next.table) + 1]
      const progress = { id, ...(table !== undefined && { next: { table, after: found.at(-1)?.row ?? 0 } }) }
      return (await index.update({ documents, gone: [], state: JSON.stringify(progress) })) ? progress : undefined
    },
    isDue: async () => hasPostponed() || (await queuedRows(database.read, 1)).length > 0,
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
