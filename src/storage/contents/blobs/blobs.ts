import { setMaxListeners } from 'node:events'
import { addAbortSignal, type Readable } from 'node:stream'

/** A content that a store has received and nobody sees yet. Whoever has one publishes or drops it. */
export interface Arrival {
  sha256: string
  size: number
  /** Makes it durable under its name, as young as can be at this moment; it cannot be repeated, whatever comes of it. */
  publish(): Promise<void>
  /** Leaves nothing of what is not published; does nothing afterwards. */
  drop(): Promise<void>
}

/**
 * A store of immutable contents named by their SHA-256. What every store promises:
 *
 * - `publish`, and so `put`, resolves when the content is durable under its name, never before; a content that was there
 *   already becomes as young as a new one. When the source fails or is longer than `max`, nothing is left behind.
 * - What was acknowledged is read back byte for byte until `remove`.
 * - Names are made here, from bytes seen here: no name comes from a caller who has not sent the content.
 * - `remove` takes away only what nobody published since `before`, also when both happen at the same moment.
 * - Two puts of the same content at once both succeed.
 */
export interface BlobStore {
  /** Receives a content out of sight. Throws `TooLarge` past `max` bytes, `DiskFull` when the disk is full. */
  receive(source: AsyncIterable<Uint8Array>, max: number): Promise<Arrival>
  /** Receives and publishes a content. Throws `TooLarge` past `max` bytes, `DiskFull` when the disk is full. */
  put(source: AsyncIterable<Uint8Array>, max: number): Promise<{ sha256: string; size: number }>
  /** The bytes from `start` to `end` (inclusive) or all of them. The stream fails when there is no such content. */
  read(sha256: string, range?: { start: number; end: number }): Readable
  /**
   * Writes a content into a new file, not flushed, as fast as the store can. False when there is no such content. Where a
   * signal is given, a store that is far away is not waited for any longer than until it is aborted.
   */
  save(sha256: string, file: string, signal?: AbortSignal): Promise<boolean>
  has(sha256: string, signal?: AbortSignal): Promise<boolean>
  /** Bytes that a content has in the store; undefined when it is not there. */
  size(sha256: string): Promise<number | undefined>
  /** Removes a content untouched since `before` (epoch milliseconds); false when it is younger or not there. */
  remove(sha256: string, before: number): Promise<boolean>
  /** Every content, in no order. */
  list(): AsyncIterable<{ sha256: string; size: number; touched: number }>
  /** The name of the installation whose contents these are; undefined when the store was never claimed. */
  owner(): Promise<string | undefined>
  /** Says whose contents these are from now on. */
  claim(owner: string): Promise<void>
  /** Whether the store answers; throws why not. */
  check(): Promise<void>
  close(): Promise<void>
}

/** Where a store keeps the name of its installation. */
export const OWNER = 'installation'

/** A source held more bytes than it may. */
export class TooLarge extends Error {
  override name = 'TooLarge'
}

/** The same store for a job: its reads end with the job. */
export function readUntil(blobs: BlobStore, signal: AbortSignal | undefined): BlobStore {
  if (!signal) return blobs
  // One for every content that is read.
  setMaxListeners(0, signal)
  return {
    ...blobs,
    read: (sha256, range) => addAbortSignal(signal, blobs.read(sha256, range)),
    save: (sha256, file) => blobs.save(sha256, file, signal),
    has: (sha256) => blobs.has(sha256, signal),
  }
}

/** Storing a content in one go. */
export const putBy =
  (receive: BlobStore['receive']): BlobStore['put'] =>
  async (source, max) => {
    const { sha256, size, publish } = await receive(source, max)
    await publish()
    return { sha256, size }
  }
