/** Small pieces travel together, in bytes: a write for each header would cost both sides more than what it carries. */
const PIECE = 64 * 1_024

/** The same bytes in pieces of a size worth sending. */
export async function* joined(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
    }
  } catch (error) {
    failure = { error }
  }
  // Also before a failure: what is whole is of use.
  if (size > 0) yield Buffer.concat(waiting, size)
  if (failure) throw failure.error
}
