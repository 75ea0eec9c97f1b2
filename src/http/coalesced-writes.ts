import { yieldToOthers } from '../domain/turn.ts'

/** Bytes to which small chunks are coalesced: writing each file header separately costs more than its bytes do. */
const PIECE = 64 * 1_024

/** Coalesces small chunks of a stream. Others have a turn after each: contents in SQLite are read without waiting. */
export async function* coalesceWrites(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let size = 0
  let failure: { error: unknown } | undefined
  try {
    for await (const piece of pieces) {
      waiting.push(piece)
      size += piece.length
      if (size < PIECE) continue
      yield Buffer.concat(waiting, size)
      waiting = []
      size = 0
      await yieldToOthers()
    }
  } catch (error) {
    failure = { error }
  }
  // Flushed before an error too: complete entries are still useful to the client.
  if (size > 0) yield Buffer.concat(waiting, size)
  if (failure) throw failure.error
}
