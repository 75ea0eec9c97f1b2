import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import { ByteBuffer } from '../../base/byte-buffer.ts'
import { HOUR } from '../../base/clock.ts'
import { Busy } from '../../base/errors.ts'
import { TooLarge, type Arrival, type BlobStore } from './blobs/blobs.ts'
import { LEAST_GRACE, makeCollector, type Collector } from './collector.ts'
import { makeStoringRecord, remember } from './collector-memory.ts'
import { makeContentCheck, type ContentCheck } from './content-check.ts'
import { assertNotRemoved, newestRemoval } from './content-removals.ts'
import { first, prepared, type Database, type Writer } from '../engine/database.ts'
import { makeReclaim } from './reclaim.ts'
import { release } from './released-contents.ts'

/** A small content becomes durable with the transaction that claims it; a large one is hidden until published. */
export interface Staged {
  sha256: string
  size: number
  data: Uint8Array | null
  /** Epoch ms; for a large content the start of publishing, not later than the blob store's own time. */
  arrived_at: number | undefined
  /** The newest removal when publishing began. */
  seen?: number
  /** A large content in the blob store; null for a small one. */
  arrival: Arrival | null
}

/**
 * Contents of files, small ones in the database and large ones in the blob store, with one interface. A content is
 * received, then published if nothing speaks against it, both outside any transaction, and claimed in the transaction
 * that writes the row referencing it.
 */
export interface Contents extends ContentCheck, Collector {
  /** Receives at most `max` bytes; call `publish` or `drop` next. Throws `TooLarge` beyond them. */
  receive(source: AsyncIterable<Uint8Array>, max: number): Promise<Staged>
  /** Makes a large content durable in the blob store. From then on only the collector removes it. */
  publish(staged: Staged): Promise<void>
  drop(staged: Staged): Promise<void>
  /** Records a published content that nothing references. */
  abandon(tx: Writer, user: number, staged: Staged, now: number): Promise<void>
  /** Removes unreferenced contents that an account released, instead of a day later. */
  reclaim(user: number): Promise<void>
  stage(source: AsyncIterable<Uint8Array>, max: number): Promise<Staged>
  /**
   * Ensures that a content has a row. Throws `Busy` if it was staged so long ago that the collector may have taken it
   * (the clock jumped, or the machine slept), or if it was removed meanwhile.
   */
  claim(tx: Writer, staged: Staged, now: number): Promise<void>
  /** The bytes from `start` to `end` (inclusive), or all. */
  read(sha256: string, range?: { start: number; end: number }): Promise<Readable | Buffer>
  /** Assigns the blob store to this database; blobs without a row stay until someone confirms their removal. */
  adopt(owner: string): Promise<void>
  check(): Promise<void>
}

/**
 * Largest content kept in the database. A row shares the flush of its commit, a file needs two flushes of its own: on
 * SQLite, rows are faster up to about 100 KiB, and up to this size the database file stays manageable.
 */
export const INLINE_MAX = 64 * 1024

const claimQuery = prepared<{ sha256: string; size: number; data: Uint8Array | null; now: number }, never>(({ q, p }) =>
  q
    .insertInto('contents')
    .values({ sha256: p.sha256, size: p.size, data: p.data, touched_at: p.now })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ touched_at: sql`excluded.touched_at` })),
)

const recentQuery = prepared<{ sha256: string; since: number }, { sha256: string }>(({ q, p }) =>
  q.selectFrom('contents').select('sha256').where('sha256', '=', p.sha256).where('touched_at', '>', p.since),
)

/**
 * Inserts a content, or notes that it was stored again. A recent row stays unlocked: accounts share contents, and
 * transactions on Postgres that store the same files would wait for each other in a circle. Nothing removes it
 * meanwhile: contents are removed by units for the instance, which run alone.
 */
async function ensureRow(tx: Writer, { sha256, size, data }: Staged, now: number): Promise<void> {
  if (!(await first(recentQuery(tx, { sha256, since: now - HOUR })))) await claimQuery(tx, { sha256, size, data, now })
}

const dataQuery = prepared<{ sha256: string }, { data: Uint8Array | null }>(({ q, p }) =>
  q.selectFrom('contents').select('data').where('sha256', '=', p.sha256),
)

const inOnePiece = (chunks: Uint8Array[]): Uint8Array => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))

async function* joined(head: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** The contents of all accounts: small ones in the database, others in the blob store. */
export function makeContents(database: Database, blobs: BlobStore): Contents {
  const recordWhile = makeStoringRecord(database)

  const contents: Contents = {
    ...makeContentCheck(database, blobs),
    ...makeCollector(database, blobs),
    ...makeReclaim(database, blobs),

    async receive(source, max) {
      const iterator = source[Symbol.asyncIterator]()
      const head = new ByteBuffer()
      try {
        for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
          head.add(next.value)
          if (head.size > max) throw new TooLarge(`More than ${max} bytes.`)
          if (head.size <= INLINE_MAX) continue
          const arrival = await blobs.receive(joined(head.take(), iterator), max)
          const { sha256, size } = arrival
          return { sha256, size, data: null, arrived_at: undefined, arrival }
        }
      } finally {
        // Also if the blob store failed before it asked for a byte: a request that is not read blocks its connection.
        await iterator.return?.()
      }
      const data = inOnePiece(head.take())
      return { sha256: hash('sha256', data), size: data.length, data, arrived_at: Date.now(), arrival: null }
    },

    async publish(staged) {
      if (!staged.arrival) return
      const seen = await newestRemoval(database.read, staged.sha256)
      staged.arrived_at = Date.now()
      const { arrival } = staged
      await recordWhile(() => arrival.publish())
      staged.seen = seen
    },

    drop: async ({ arrival }) => arrival?.drop(),

    async stage(source, max) {
      const staged = await contents.receive(source, max)
      try {
        await contents.publish(staged)
        return staged
      } finally {
        await contents.drop(staged)
      }
    },

    async claim(tx, staged, now) {
      const { sha256, data, arrived_at, seen } = staged
      if (arrived_at === undefined) throw new Error(`Content ${sha256} is claimed before it was published.`)
      if (data === null && Date.now() - arrived_at > LEAST_GRACE / 2)
        throw new Busy('The clock jumped while the content was stored. Send it again.')
      if (seen !== undefined) await assertNotRemoved(tx, sha256, seen)
      await ensureRow(tx, staged, now)
    },

    async abandon(tx, user, staged, now) {
      await ensureRow(tx, staged, now)
      await release(tx, user, staged)
    },

    async read(sha256, range) {
      const row = await first(dataQuery(database.read, { sha256 }))
      if (!row) throw new Error(`Content ${sha256} is missing.`)
      if (!row.data) return blobs.read(sha256, range)
      const data = Buffer.from(row.data.buffer, row.data.byteOffset, row.data.byteLength)
      return range ? data.subarray(range.start, range.end + 1) : data
    },

    async adopt(owner) {
      const now = Date.now()
      // Record this before the claim: the existing blobs did not come from these rows.
      await database.write('instance', (tx) => remember(tx, () => ({ absences: [[0, now]] })))
      await blobs.claim(owner)
    },

    check: () => blobs.check(),
  }
  return contents
}
