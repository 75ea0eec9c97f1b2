import type { FileHandle } from 'node:fs/promises'
import { ByteGatherer } from '../base/byte-gatherer.ts'
import type { HashJob } from './hash-job.ts'

const PIECE = 1 << 20
/** Most bytes that are hashed in one step, so that one source does not keep the others waiting. */
const STEP = 8 * PIECE
/** Most bytes received but not yet written: what bounds the memory of one upload. */
const UNWRITTEN = 8 * PIECE
/** Bytes after which written data is sent to the disk while the rest still arrives, so that the last flush is short. */
const FLUSH_EVERY = 16 * PIECE

/** Writes chunks one behind the other at a position. */
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

/** Writes pieces in turn from a position on; what stands in the file is hashed while the next ones are written. */
function makeOutlet(file: FileHandle, job: HashJob, from: number) {
  const begun = new Set<Promise<void>>()
  let failure: Error | undefined
  let turn: Promise<void> = Promise.resolve()
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
    // The system reports a failed flush once: what this one says is not said again by the flush at the end.
    watch(file.datasync())
  }

  return {
    /** Takes the next piece; resolves when there is room for another. Throws what went wrong so far. */
    async take(chunks: Uint8Array[], length: number): Promise<void> {
      queued += length
      turn = turn.then(() => write(chunks, length)).catch((error: unknown) => void (failure ??= error as Error))
      if (queued - written > UNWRITTEN) await turn
      if (failure) throw failure
    },
    /** Resolves when everything taken is written and hashed. */
    async settled(): Promise<void> {
      await turn
      await Promise.all(begun)
      if (failure) throw failure
    },
  }
}

/**
 * Receives a source into a file from a position on, written and hashed while it arrives; what stood in the file before is
 * hashed by the caller. Returns how many bytes came; a source of more than `max` is left as soon as that shows, and the
 * result is more than `max`. What came is in the file also when the source fails.
 */
export async function receive(
  source: AsyncIterable<Uint8Array>,
  file: FileHandle,
  job: HashJob,
  { from = 0, max }: { from?: number; max: number },
): Promise<number> {
  const outlet = makeOutlet(file, job, from)
  let size = 0
  const gathered = new ByteGatherer()
  const hand = (length: number) => outlet.take(gathered.take(), length)
  try {
    for await (const chunk of source) {
      size += chunk.length
      if (size > max) break
      gathered.add(chunk)
      if (gathered.size >= PIECE) await hand(gathered.size)
    }
  } finally {
    // Also when the source failed: nobody may still use the file when it is closed. What went wrong is thrown at the end.
    if (gathered.size > 0) await hand(gathered.size).catch(() => undefined)
    await outlet.settled()
  }
  return size
}
