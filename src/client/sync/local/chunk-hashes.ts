import type { FileHandle } from 'node:fs/promises'
import type { HashJob } from '../../../host/hash-job.ts'

/** Most bytes of a chunk. */
export const CHUNK = 1 << 20
/** One chunk being read, one read ahead, and two that the consumer may hold. */
const SLOTS = 4

/**
 * Reads an open file from the start, at most `size` bytes, and hashes exactly the bytes it yields. Reads one chunk
 * ahead; a chunk is valid until the third one after it is requested. The hash is complete with the job's digest.
 */
export async function* hashedChunks(file: FileHandle, size: number, job: HashJob): AsyncGenerator<Buffer> {
  const slots: { memory: Buffer; hashed: Promise<void> }[] = []

  async function read(index: number, position: number): Promise<Buffer> {
    const slot = (slots[index % SLOTS] ??= { memory: job.memory(Math.min(CHUNK, size)), hashed: Promise.resolve() })
    await slot.hashed
    const { bytesRead } = await file.read(slot.memory, 0, Math.min(slot.memory.length, size - position), position)
    const chunk = slot.memory.subarray(0, bytesRead)
    slot.hashed = job.update(chunk)
    slot.hashed.catch(ignored)
    return chunk
  }

  let next = size > 0 ? read(0, 0) : undefined
  try {
    for (let index = 1, position = 0; next; index += 1) {
      const chunk = await next
      if (chunk.length === 0) return
      position += chunk.length
      next = position < size ? read(index, position) : undefined
      next?.catch(ignored)
      yield chunk
    }
  } finally {
    // The file must not be read any more when it is closed.
    await next?.catch(ignored)
  }
}

/** The error is thrown where the promise is awaited. */
const ignored = (): void => undefined
