import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import { DAY } from '../base/clock.ts'
import { TooLarge, type BlobStore } from './blobs/blobs.ts'
import { collectorIsHeld } from './collector-holds.ts'
import { makeContentCheck, type ContentCheck } from './content-check.ts'
import { first, prepared, type Database, type Writer } from './database.ts'

/** Received and, when large, durable in the blob store; small ones become durable with the transaction that claims them. */
export interface Staged {
  sha256: string
  size: number
  data: Uint8Array | null
}

/**
 * The contents of files, small ones beside their rows and large ones in the blob store; nobody above can tell which. A
 * content is staged first, outside any transaction, and claimed in the transaction that writes the row pointing to it.
 */
export interface Contents extends ContentCheck {
  /** Receives at most `max` bytes. Throws `TooLarge` beyond them. */
  stage(source: AsyncIterable<Uint8Array>, max: number): Promise<Staged>
  claim(tx: Writer, staged: Staged, now: number): Promise<void>
  /** The bytes from `start` to `end` (inclusive) or all of them. */
  read(sha256: string, range?: { start: number; end: number }): Promise<Readable | Buffer>
  /**
   * Removes what nothing points to and nobody touched since `before`, in the database and the blob store. Nothing while
   * somebody holds the collector.
   */
  collect(before: number): Promise<{ contents: number; bytes: number }>
  /** Blobs of the store that no content names and nobody touched since `before`: what an interrupted upload left. */
  orphans(before: number): Promise<{ blobs: number; bytes: number }>
  check(): Promise<void>
}

/**
 * Largest content kept in the database. A commit is one flush for many rows, a file needs two of its own; measured on
 * SQLite, rows win up to some 100 KiB, and up to here they do not make the database file unwieldy.
 */
export const INLINE_MAX = 64 * 1024

/** The collector never takes what is younger, whatever it is told: an upload may be about to point to it. */
const LEAST_GRACE = DAY

const claimQuery = prepared<{ sha256: string; size: number; data: Uint8Array | null; now: number }, never>(({ q, p }) =>
  q
    .insertInto('contents')
    .values({ sha256: p.sha256, size: p.size, data: p.data, touched_at: p.now })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ touched_at: sql`excluded.touched_at` })),
)

const dataQuery = prepared<{ sha256: string }, { data: Uint8Array | null }>(({ q, p }) =>
  q.selectFrom('contents').select('data').where('sha256', '=', p.sha256),
)

async function* joined(head: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

export function makeContents(database: Database, blobs: BlobStore): Contents {
  async function* strays(before: number): AsyncGenerator<{ sha256: string; size: number }> {
    for await (const blob of blobs.list()) {
      if (blob.touched < before && !(await first(dataQuery(database.read, { sha256: blob.sha256 })))) yield blob
    }
  }

  return {
    ...makeContentCheck(database, blobs),

    async stage(source, max) {
      const iterator = source[Symbol.asyncIterator]()
      const head: Uint8Array[] = []
      let size = 0
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        head.push(next.value)
        size += next.value.length
        if (size > max) {
          await iterator.return?.()
          throw new TooLarge(`More than ${max} bytes.`)
        }
        if (size > INLINE_MAX) return { ...(await blobs.put(joined(head, iterator), max)), data: null }
      }
      const data = head.length === 1 ? head[0]! : Buffer.concat(head)
      return { sha256: hash('sha256', data), size, data }
    },

    async claim(tx, staged, now) {
      await claimQuery(tx, { ...staged, now })
    },

    async read(sha256, range) {
      const row = await first(dataQuery(database.read, { sha256 }))
      if (!row) throw new Error(`Content ${sha256} is missing.`)
      if (!row.data) return blobs.read(sha256, range)
      const data = Buffer.from(row.data.buffer, row.data.byteOffset, row.data.byteLength)
      return range ? data.subarray(range.start, range.end + 1) : data
    },

    async collect(before) {
      const limit = Math.min(before, Date.now() - LEAST_GRACE)
      const gone = await database.write(async (tx) => {
        if (await collectorIsHeld(tx)) return undefined
        // One statement decides and removes: no upload can point to a row between the two.
        return tx.q
          .deleteFrom('contents')
          .where('touched_at', '<', limit)
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('nodes').select('id').whereRef('nodes.sha256', '=', 'contents.sha256'))),
          )
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('versions').select('id').whereRef('versions.sha256', '=', 'contents.sha256'))),
          )
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('app_files').select('path').whereRef('app_files.sha256', '=', 'contents.sha256'))),
          )
          .returning(['size'])
          .execute()
      })
      if (!gone) return { contents: 0, bytes: 0 }
      // Then the store: whatever has no row and is old, also what an interrupted upload or an earlier run left behind.
      for await (const { sha256 } of strays(limit)) await blobs.remove(sha256, limit)
      return { contents: gone.length, bytes: gone.reduce((sum, { size }) => sum + size, 0) }
    },

    async orphans(before) {
      const found = { blobs: 0, bytes: 0 }
      for await (const { size } of strays(before)) {
        found.blobs++
        found.bytes += size
      }
      return found
    },

    check: () => blobs.check(),
  }
}
