/** Chunks from this size on are kept as they are. */
const KEPT = 1_024
const BLOCK = 4_096

/**
 * Collects bytes that arrive in chunks. Small chunks are copied into blocks, because one object per byte from a hostile
 * peer would take a hundred times its memory.
 */
export class ByteBuffer {
  #chunks: Uint8Array[] = []
  #block = new Uint8Array(0)
  #filled = 0
  #size = 0

  /** Bytes collected since the last `take`. */
  get size(): number {
    return this.#size
  }

  /** Takes ownership of a chunk: it must not change any more. */
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

  /** Returns what was collected, in order, and starts over. */
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
    this.#block = this.#block.subarray(this.#filled)
    this.#filled = 0
  }
}

/** Reads a source to its end. Whoever calls it limits the size. */
export async function collectBytes(source: AsyncIterable<Uint8Array>): Promise<ByteBuffer> {
  const collected = new ByteBuffer()
  for await (const chunk of source) collected.add(chunk)
  return collected
}
