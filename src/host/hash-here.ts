import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { HashJob } from './hash-job.ts'

const PIECE = 1 << 20

/** A job that hashes without a thread, for what is too small to be worth one. */
export function hashHere(): HashJob {
  const hash = createHash('sha256')
  let position = 0
  let turn: Promise<void> = Promise.resolve()

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
      turn = turn.then(() => hashUpTo(file, upTo))
      return turn
    },
    async digest() {
      await turn
      return hash.digest('hex')
    },
    abandon: () => turn.catch(() => undefined),
  }
}
