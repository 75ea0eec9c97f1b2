import { Readable } from 'node:stream'
import { JsonList } from '../domain/json-list.ts'

/** Largest response in bytes that is sent as one string. */
const BUFFERED = 65_536

/** Whether a result contains a serialized list. Elements of ordinary lists are not searched. */
export const hasSerializedLists = (value: unknown): boolean =>
  value instanceof JsonList ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).some(hasSerializedLists))

function* serializedParts(value: unknown): Generator<string | Buffer> {
  if (value instanceof JsonList) yield* value.pieces
  else if (hasSerializedLists(value)) {
    let separator = '{'
    for (const [name, part] of Object.entries(value as object)) {
      if (part === undefined) continue
      yield `${separator}${JSON.stringify(name)}:`
      yield* serializedParts(part)
      separator = ','
    }
    yield '}'
  } else yield JSON.stringify(value)
}

/** A serialized response; `length` is in bytes and set for streams only. */
export interface JsonBody {
  body: string | Readable
  length?: number
}

/** Serializes a result that contains serialized lists. */
export function serialize(answer: object): JsonBody {
  const pieces = [...serializedParts(answer)].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return length <= BUFFERED ? { body: Buffer.concat(pieces).toString() } : { body: Readable.from(pieces), length }
}

/** Lists up to this length are serialized with their response. */
const SHORT_LIST = 16

/** Serializes a long list in slices, so that the event loop stays responsive. */
export const serializeLong = <T>(entries: T[]): T[] | Promise<JsonList<T>> =>
  entries.length <= SHORT_LIST ? entries : JsonList.of(entries)
