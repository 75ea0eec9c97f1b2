import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** One SHA-256 in progress, over bytes or over a file that is being written. Calls may overlap and take effect in order. */
export interface HashJob {
  /** Memory of a length in bytes, uninitialised, that `update` hashes without copying. */
  memory(length: number): Buffer
  /** Hashes bytes, which must not change until it resolves. */
  update(bytes: Uint8Array): Promise<void>
  /** Hashes the file up to a position; positions must grow. */
  advance(file: FileHandle, upTo: number): Promise<void>
  /** The checksum in lower-case hex. Rejects if an earlier call failed. */
  digest(): Promise<string>
  /** Ends a job without a result. When it resolves, the file and the memory are no longer in use. */
  abandon(): Promise<void>
}

const PIECE = 1 << 20

/** A job on the calling thread, for small contents. */
export function hashInline(): HashJob {
  const hash = createHash('sha256')
  let position = 0
  let pending: Promise<void> = Promise.resolve()

  async function hashUpTo(file: FileHandle, upTo: number): Promise<void> {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, Math.max(0, upTo - position)))
    while (position < upTo) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, upTo - position), position)
      if (bytesRead === 0) throw new Error(`The file ends at ${position} instead of ${upTo}.`)
      hash.update(buffer.subarray(0, bytesRead))
      position += bytesRead
    }
  }

  return {
    memory: (length) => Buffer.allocUnsafe(length),
    update(bytes) {
      hash.update(bytes)
      return Promise.resolve()
    },
    advance(file, upTo) {
      pending = pending.then(() => hashUpTo(file, upTo))
      return pending
    },
    async digest() {
      await pending
      return hash.digest('hex')
    },
    abandon: () => pending.catch(() => undefined),
  }
}
