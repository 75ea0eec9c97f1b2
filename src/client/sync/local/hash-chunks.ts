import type { FileHandle } from 'node:fs/promises'
import type { HashJob } from '../../../host/hash-job.ts'

/** Most bytes of a chunk. */
export const CHUNK = 1 << 20
/** One that is read, one that is read already, and two that the reader of the chunks may hold. */
const SLOTS = 4

/**
 * Reads an open file from its beginning, at most `size` bytes of it, and hashes exactly the bytes it yields. The next chunk is
 * read while one is in use, and each is valid until the third after it is asked for. What the last of them ends with is hashed
 * when the job's digest is there.
 */
export async function* hashedChunks(file: FileHandle, size: number, job: HashJob): AsyncGenerator<Buffer> {
  const slots: { memory: Buffer; hashed: Promise<void> }[] = []

  async function read(turn: number, position: number): Promise<Buffer> {
    const slot = (slots[turn % SLOTS] ??= { memory: job.memory(Math.min(CHUNK, size)), hashed: Promise.resolve() })
    await slot.hashed
    const { bytesRead } = await file.read(slot.memory, 0, Math.min(slot.memory.length, size - position), position)
    const chunk = slot.memory.subarray(0, bytesRead)
    slot.hashed = job.update(chunk)
    slot.hashed.catch(ignored)
    return chunk
  }

  let next = size > 0 ? read(0, 0) : undefined
  try {
    for (let turn = 1, position = 0; next; turn += 1) {
      const chunk = await next
      if (chunk.length === 0) return
      position += chunk.length
      next = position < size ? read(turn, position) : undefined
      next?.catch(ignored)
      yield chunk
    }
  } finally {
    // Nobody may still use the file when it is closed.
    await next?.catch(ignored)
  }
}

/** It is thrown where it is waited for. */
const ignored = (): void => undefined
