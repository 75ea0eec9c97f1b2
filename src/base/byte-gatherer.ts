/** Chunks from this size on are kept as they are. */
const KEPT = 1_024
const BLOCK = 4_096

/**
 * Collects bytes that arrive in chunks. Small chunks are copied into blocks: an object for each byte that a hostile peer
 * sends alone would take a hundred times its memory, and as much time wherever the chunks are walked through.
 */
export class ByteGatherer {
  #chunks: Uint8Array[] = []
  #block = new Uint8Array(0)
  #filled = 0
  #size = 0

  /** Bytes collected since the last `take`. */
  get size(): number {
    return this.#size
  }

  /** Takes over a chunk, which must not change any more. */
  add(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (chunk.length >= KEPT) {
      this.#closeBlock()
      this.#chunks.push(chunk)
      return
    }
    if (this.#filled + chunk.length > this.#block.length) {
      this.#closeBlock()
      this.#block = new Uint8Array(BLOCK)
    }
    this.#block.set(chunk, this.#filled)
    this.#filled += chunk.length
  }

  /** What was collected, in order; collects anew. */
  take(): Uint8Array[] {
    this.#closeBlock()
    const chunks = this.#chunks
    this.#chunks = []
    this.#size = 0
    return chunks
  }

  #closeBlock(): void {
    if (this.#filled === 0) return
    this.#chunks.push(this.#block.subarray(0, this.#filled))
    // What is left of the block takes what follows.
    this.#block = this.#block.subarray(this.#filled)
    this.#filled = 0
  }
}

/** All bytes of a source. */
export async function gather(source: AsyncIterable<Uint8Array>): Promise<ByteGatherer> {
  const gathered = new ByteGatherer()
  for await (const chunk of source) gathered.add(chunk)
  return gathered
}
