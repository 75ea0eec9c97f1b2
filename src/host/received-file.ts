import type { FileHandle } from 'node:fs/promises'
import { ByteBuffer } from '../base/byte-buffer.ts'
import type { HashJob } from './hash-job.ts'

const PIECE = 1 << 20
/** Bytes hashed per step, so that one source does not delay the others. */
const STEP = 8 * PIECE
/** Bytes received but not yet written: the memory limit of one upload. */
const UNWRITTEN = 8 * PIECE
/** Bytes after which written data is flushed while the rest still arrives, so that the last flush is short. */
const FLUSH_EVERY = 16 * PIECE

/** Writes chunks one after another from a position. */
async function writeAll(file: FileHandle, chunks: Uint8Array[], position: number): Promise<void> {
  let rest = chunks
  for (let at = position; rest.length > 0;) {
    const { bytesWritten } = await file.writev(rest, at)
    at += bytesWritten
    let written = bytesWritten
    let whole = 0
    while (whole < rest.length && written >= rest[whole]!.length) written -= rest[whole++]!.length
    rest = rest.slice(whole)
    if (written > 0) rest[0] = rest[0]!.subarray(written)
  }
}

/** Writes chunks in order from a position; each is hashed while the next is written. */
function makeSequentialWriter(file: FileHandle, job: HashJob, from: number) {
  const begun = new Set<Promise<void>>()
  let failure: Error | undefined
  let pending: Promise<void> = Promise.resolve()
  let hashing = false
  let queued = from
  let written = from
  let hashed = from
  let flushed = from

  function watch(step: Promise<void>): void {
    const work = step
      .catch((error: unknown) => void (failure ??= error as Error))
      .finally(() => void begun.delete(work))
    begun.add(work)
  }

  async function hashOn(): Promise<void> {
    hashing = true
    while (hashed < written) {
      hashed = Math.min(written, hashed + STEP)
      await job.advance(file, hashed)
    }
    hashing = false
  }

  async function write(chunks: Uint8Array[], length: number): Promise<void> {
    if (failure) return
    await writeAll(file, chunks, written)
    written += length
    if (!hashing) watch(hashOn())
    if (written - flushed < FLUSH_EVERY) return
    flushed = written
    // The system reports a failed flush only once: keep the error for the flush at the end.
    watch(file.datasync())
  }

  return {
    /** Takes the next chunk; resolves when there is room for another. Throws an earlier error. */
    async take(chunks: Uint8Array[], length: number): Promise<void> {
      queued += length
      pending = pending.then(() => write(chunks, length)).catch((error: unknown) => void (failure ??= error as Error))
      if (queued - written > UNWRITTEN) await pending
      if (failure) throw failure
    },
    /** Resolves when everything is written and hashed. */
    async settled(): Promise<void> {
      await pending
      await Promise.all(begun)
      if (failure) throw failure
    },
  }
}

/**
 * Receives a source into a file from a position, writing and hashing as it arrives; the caller hashes what the file
 * held before. Returns the number of bytes. A source with more than `max` is abandoned, and the result is then more
 * than `max`. If the source fails, the file keeps what arrived.
 */
export async function receive(
  source: AsyncIterable<Uint8Array>,
  file: FileHandle,
  job: HashJob,
  { from = 0, max }: { from?: number; max: number },
): Promise<number> {
  const outlet = makeSequentialWriter(file, job, from)
  let size = 0
  const buffer = new ByteBuffer()
  const hand = (length: number) => outlet.take(buffer.take(), length)
  try {
    for await (const chunk of source) {
      size += chunk.length
      if (size > max) break
      buffer.add(chunk)
      if (buffer.size >= PIECE) await hand(buffer.size)
    }
  } finally {
    // Also if the source failed: the file must not be in use when it is closed. Errors are thrown later.
    if (buffer.size > 0) await hand(buffer.size).catch(() => undefined)
    await outlet.settled()
  }
  return size
}
