import { sql, type Expression } from 'kysely'
import { DAY } from '../../base/clock.ts'
import type { BlobStore } from './blobs/blobs.ts'
import { CollectorRefused, refusalOf, type Amount, type PlannedCollection } from './collector-guard.ts'
import { collectorIsHeld } from './collector-holds.ts'
import { isExplained, memoryOf, remember } from './collector-memory.ts'
import { nextTurn } from '../engine/event-loop.ts'
import { first, prepared, type Database, type Reader, type Writer } from '../engine/database.ts'

/** Removes unreferenced contents, and blobs without a row. */
export interface Collector {
  /**
   * Removes everything unreferenced and untouched since `before` from the database and the blob store. Does nothing
   * while a hold exists. Throws `CollectorRefused` for an unusual amount of more than `confirmed` contents and blobs.
   */
  collect(before: number, confirmed?: number): Promise<{ contents: number; bytes: number }>
  /** Blobs without a row and untouched since `before`, and why they would not be removed. */
  orphans(before: number): Promise<{ blobs: number; bytes: number; refusal: string | undefined }>
}

/** Younger contents are never removed: an upload may be about to reference them. */
export const LEAST_GRACE = DAY

/** Rows deleted per transaction. */
const SLICE = 500

/** Rows examined by one statement, before others have their turn. */
const WINDOW = 2_000

const rowQuery = prepared<{ sha256: string }, { sha256: string }>(({ q, p }) =>
  q.selectFrom('contents').select('sha256').where('sha256', '=', p.sha256),
)

const hasRow = async (on: Reader, sha256: string): Promise<boolean> =>
  (await first(rowQuery(on, { sha256 }))) !== undefined

/** No row references the content. */
const unneeded = sql<boolean>`not exists (select 1 from nodes n where n.sha256 = contents.sha256)
  and not exists (select 1 from versions v where v.sha256 = contents.sha256)
  and not exists (select 1 from app_files f where f.sha256 = contents.sha256)`

/**
 * The contents after a hash that one statement examines, and which of them are unreferenced. `touched_at` stands behind the
 * bytes of the content, so it is read only where it decides.
 */
const windowAfter = (after: string, before: number) => sql`(
  select sha256, size, case when ${unneeded} then case when touched_at < ${before} then 1 else 0 end else 0 end as is_due
  from contents where sha256 > ${after} order by sha256 limit ${WINDOW}
) examined`

/** One statement decides and deletes: no upload can add a reference in between. Records which blobs to remove. */
export async function removeUnneeded(tx: Writer, some: Expression<{ sha256: string }> | readonly string[]) {
  const gone = await tx.q
    .deleteFrom('contents')
    .where('sha256', 'in', some as readonly string[])
    .where(unneeded)
    .returning(['sha256', 'size', sql<number>`case when data is null then 1 else 0 end`.as('in_store')])
    .execute()
  const stored = gone.filter(({ in_store }) => Number(in_store) === 1).map(({ sha256 }) => sha256)
  if (stored.length > 0) await remember(tx, ({ doomed }) => ({ doomed: [...doomed, ...stored] }))
  return { gone, stored }
}

/** Records that the blobs of contents without a row are removed. */
export async function blobsAreGone(tx: Writer, sha256s: readonly string[]): Promise<void> {
  const removed = new Set(sha256s)
  await remember(tx, ({ doomed }) => ({ doomed: doomed.filter((sha256) => !removed.has(sha256)) }))
}

/** Returns the removed blobs. Those that a store could not remove in time are tried again later. */
export async function removeBlobs(blobs: BlobStore, sha256s: readonly string[], before: number): Promise<string[]> {
  const gone: string[] = []
  for (const sha256 of sha256s)
    if ((await blobs.remove(sha256, before)) || (await blobs.size(sha256)) === undefined) gone.push(sha256)
  return gone
}

interface Counted {
  contents: number
  bytes: number
  due: number
  due_bytes: number
  last: string | null
}

/** Counts the next window. */
async function countWindow(on: Reader, after: string, before: number): Promise<Counted> {
  const { rows } = await sql<Counted>`
    select count(*) as contents, coalesce(sum(size), 0) as bytes, coalesce(sum(is_due), 0) as due,
      coalesce(sum(is_due * size), 0) as due_bytes, max(sha256) as last
    from ${windowAfter(after, before)}`.execute(on.q)
  return rows[0]!
}

/** Counts unreferenced contents and all of them. */
async function amountsOf(on: Reader, before: number): Promise<{ unreferenced: Amount; all: Amount }> {
  const unreferenced = { contents: 0, bytes: 0 }
  const all = { contents: 0, bytes: 0 }
  for (let after: string | null = ''; after !== null; await nextTurn()) {
    const window = await countWindow(on, after, before)
    all.contents += Number(window.contents)
    all.bytes += Number(window.bytes)
    unreferenced.contents += Number(window.due)
    unreferenced.bytes += Number(window.due_bytes)
    after = window.last
  }
  return { unreferenced, all }
}

/** The unreferenced contents of the next window, and where the one after it begins; undefined at the end. */
async function nextWindow(on: Reader, after: string, before: number) {
  const { rows } = await sql<{ sha256: string; is_due: number }>`
    select sha256, is_due from ${windowAfter(after, before)} order by sha256`.execute(on.q)
  const due = rows.filter(({ is_due }) => Number(is_due) === 1).map(({ sha256 }) => sha256)
  return { due, next: rows.at(-1)?.sha256 }
}

interface Orphan {
  sha256: string
  size: number
  touched: number
}

const amount = (strays: readonly Orphan[]): Amount => ({
  contents: strays.length,
  bytes: strays.reduce((sum, { size }) => sum + size, 0),
})

/** Finds what may be removed. */
function makeOrphanSearch(database: Database, blobs: BlobStore) {
  async function straysBefore(before: number): Promise<Orphan[]> {
    const found: Orphan[] = []
    for await (const blob of blobs.list())
      if (blob.touched < before && !(await hasRow(database.read, blob.sha256))) found.push(blob)
    return found
  }

  /** Excludes blobs that another process has collected meanwhile. */
  async function areStillThere(strays: readonly Orphan[]): Promise<Orphan[]> {
    const found: Orphan[] = []
    for (const stray of strays)
      if ((await blobs.size(stray.sha256)) !== undefined && !(await hasRow(database.read, stray.sha256)))
        found.push(stray)
    return found
  }

  return async function survey(limit: number) {
    const strays = await straysBefore(limit)
    const memory = await memoryOf(database.read)
    const doomed = new Set(memory.doomed)
    const suspects = strays.filter(({ sha256, touched }) => !doomed.has(sha256) && !isExplained(memory, touched))
    const unexplained = await areStillThere(suspects)
    return database.snapshot(async (at) => {
      const found: PlannedCollection = {
        ...(await amountsOf(at, limit)),
        strays: amount(strays),
        unexplained: amount(unexplained),
      }
      return { strays, found, refusal: await refusalOf(at, found, memory) }
    })
  }
}

export function makeCollector(database: Database, blobs: BlobStore): Collector {
  const survey = makeOrphanSearch(database, blobs)

  /** Deletes the rows of contents that are still unreferenced, and records which blobs to remove; not during a hold. */
  async function removeRows(tx: Writer, sha256s: readonly string[], limit: number) {
    if (await collectorIsHeld(tx)) return undefined
    const due = tx.q.selectFrom('contents').select('sha256').where('sha256', 'in', sha256s)
    return removeUnneeded(tx, due.where('touched_at', '<', limit))
  }

  async function removeAll(sha256s: readonly string[], limit: number): Promise<void> {
    const gone = await removeBlobs(blobs, sha256s, limit)
    if (gone.length > 0) await database.write('instance', (tx) => blobsAreGone(tx, gone))
  }

  return {
    async collect(before, confirmed = 0) {
      const limit = Math.min(before, Date.now() - LEAST_GRACE)
      const sum = { contents: 0, bytes: 0 }
      if (await collectorIsHeld(database.read)) return sum
      await blobs.check()
      const { strays, found, refusal } = await survey(limit)
      const going = found.unreferenced.contents + found.strays.contents
      if (refusal !== undefined && going > confirmed) throw new CollectorRefused(refusal)
      for (let after: string | undefined = ''; after !== undefined; await nextTurn()) {
        const { due, next } = await nextWindow(database.read, after, limit)
        for (let at = 0; at < due.length; at += SLICE) {
          const some = due.slice(at, at + SLICE)
          const slice = await database.write('instance', (tx) => removeRows(tx, some, limit))
          if (!slice) return sum
          await removeAll(slice.stored, limit)
          sum.contents += slice.gone.length
          sum.bytes += slice.gone.reduce((bytes, { size }) => bytes + Number(size), 0)
        }
        after = next
      }
      // Then blobs without a row: leftovers of interrupted uploads or of an earlier run.
      await removeAll(
        strays.map(({ sha256 }) => sha256),
        limit,
      )
      await database.write('instance', (tx) =>
        remember(tx, ({ absences, swept, most }) => ({
          absences: absences.filter(([, to]) => to > limit),
          swept: Math.max(swept, limit),
          most: {
            contents: Math.max(most.contents, going),
            bytes: Math.max(most.bytes, found.unreferenced.bytes + found.strays.bytes),
          },
        })),
      )
      return sum
    },

    async orphans(before) {
      const { found, refusal } = await survey(before)
      return { blobs: found.strays.contents, bytes: found.strays.bytes, refusal }
    },
  }
}
