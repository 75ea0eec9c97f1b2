import { yieldToOthers } from './turn.ts'

/** Entries that are put into words in one turn of the event loop, and characters of them. */
const SLICE = 1_000
const SLICE_CHARACTERS = 1_048_576

/** A list serialized in slices, so that a long one does not block the event loop. */
export class JsonList<T = unknown> {
  readonly #pieces: Buffer[] = []
  #length = 0

  /** Adds entries behind those that are there. */
  add(entries: readonly T[]): void {
    if (entries.length > 0) this.#append(JSON.stringify(entries).slice(1, -1), entries.length)
  }

  #append(text: string, count: number): void {
    this.#pieces.push(Buffer.from(this.#length > 0 ? `,${text}` : text))
    this.#length += count
  }

  /** The same entries as JSON text, made while others have their turn. */
  static async of<T>(entries: readonly T[]): Promise<JsonList<T>> {
    const list = new JsonList<T>()
    let texts: string[] = []
    let characters = 0
    for (const entry of entries) {
      const text = JSON.stringify(entry)
      texts.push(text)
      characters += text.length
      if (texts.length < SLICE && characters < SLICE_CHARACTERS) continue
      list.#append(texts.join(), texts.length)
      texts = []
      characters = 0
      await yieldToOthers()
    }
    if (texts.length > 0) list.#append(texts.join(), texts.length)
    return list
  }

  /** The text in pieces, of which each is UTF-8. */
  get pieces(): Buffer[] {
    return [Buffer.from('['), ...this.#pieces, Buffer.from(']')]
  }

  /** The entries themselves. */
  toJSON(): T[] {
    return JSON.parse(Buffer.concat(this.pieces).toString()) as T[]
  }
}
