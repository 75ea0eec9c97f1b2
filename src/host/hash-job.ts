import type { FileHandle } from 'node:fs/promises'

/** One SHA-256 in progress, over the bytes it is given or over a file that is being written. Its calls may wait for each other. */
export interface HashJob {
  /** Memory, of a length in bytes and with anything in it, that `update` hashes without copying. */
  memory(length: number): Buffer
  /** Hashes bytes, which stay as they are until it resolves. */
  update(bytes: Uint8Array): Promise<void>
  /** Hashes what stands in the file up to a position; to be called with growing positions. */
  advance(file: FileHandle, upTo: number): Promise<void>
  /** The checksum in lower-case hex. Fails if anything before it did. */
  digest(): Promise<string>
  /** Ends a job without a result. When it resolves, neither the file nor the memory is touched any more. */
  abandon(): Promise<void>
}
