import { setMaxListeners } from 'node:events'
import { addAbortSignal, type Readable } from 'node:stream'

/** A received content that is not visible yet. The receiver publishes or drops it. */
export interface Arrival {
  sha256: string
  size: number
  /** Makes the content durable under its name and updates its age. Cannot be repeated, even after a failure. */
  publish(): Promise<void>
  /** Deletes what is not published; otherwise does nothing. */
  drop(): Promise<void>
}

/**
 * A store of immutable contents named by their SHA-256. Every store guarantees:
 *
 * - `publish`, and thus `put`, resolves when the content is durable under its name. An existing content becomes as young as
 *   a new one. If the source fails or exceeds `max`, nothing is left behind.
 * - An acknowledged content can be read byte for byte until `remove`.
 * - The store computes names from the bytes: callers cannot choose them.
 * - `remove` removes only contents that nobody has published since `before`, also under concurrency.
 * - Concurrent puts of the same content all succeed.
 */
export interface BlobStore {
  /** Receives a content into a hidden place. Throws `TooLarge` past `max` bytes, `DiskFull` when the disk is full. */
  receive(source: AsyncIterable<Uint8Array>, max: number): Promise<Arrival>
  /** Receives and publishes a content. Throws `TooLarge` past `max` bytes, `DiskFull` when the disk is full. */
  put(source: AsyncIterable<Uint8Array>, max: number): Promise<{ sha256: string; size: number }>
  /**
   * The bytes from `start` to `end` (inclusive), or all. The stream fails if there is no such content. It holds a
   * descriptor or connection only once it is read.
   */
  read(sha256: string, range?: { start: number; end: number }): Readable
  /** Writes without flushing. False if there is no such content. `signal` ends the wait for a remote store. */
  save(sha256: string, file: string, signal?: AbortSignal): Promise<boolean>
  has(sha256: string, signal?: AbortSignal): Promise<boolean>
  /** Bytes of a content in the store; undefined if it is missing. */
  size(sha256: string): Promise<number | undefined>
  /** Removes a content not touched since `before` (epoch ms); false if it is younger or missing. */
  remove(sha256: string, before: number): Promise<boolean>
  /** Every content, in no order. */
  list(): AsyncIterable<{ sha256: string; size: number; touched: number }>
  /** The installation that owns the contents; undefined if the store was never claimed. */
  owner(): Promise<string | undefined>
  /** Sets the installation that owns the contents. */
  claim(owner: string): Promise<void>
  /** Requests to a remote store and how many of them failed, since it was opened. */
  activity?(): { requests: number; failures: number }
  /** Throws if the store does not work. */
  check(): Promise<void>
  close(): Promise<void>
}

/** Where a store keeps the ID of its installation. */
export const OWNER = 'installation'

/** A source exceeds the maximum size. */
export class TooLarge extends Error {
  override name = 'TooLarge'
}

/** The same store whose reads end with a job. */
export function readUntil(blobs: BlobStore, signal: AbortSignal | undefined): BlobStore {
  if (!signal) return blobs
  // One listener per content being read.
  setMaxListeners(0, signal)
  return {
    ...blobs,
    read: (sha256, range) => addAbortSignal(signal, blobs.read(sha256, range)),
    save: (sha256, file) => blobs.save(sha256, file, signal),
    has: (sha256) => blobs.has(sha256, signal),
  }
}

export const putBy =
  (receive: BlobStore['receive']): BlobStore['put'] =>
  async (source, max) => {
    const { sha256, size, publish } = await receive(source, max)
    await publish()
    return { sha256, size }
  }
