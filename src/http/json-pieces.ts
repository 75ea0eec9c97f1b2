import { Readable } from 'node:stream'
import { JsonList } from '../domain/json-list.ts'

/** Bytes up to which an answer is sent as one. */
const ONE_PIECE = 65_536

/** Whether an answer has a list in it that is text already; what is inside of other lists is not looked at. */
export const holdsText = (value: unknown): boolean =>
  value instanceof JsonList ||
  (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(holdsText))

function* piecesOf(value: unknown): Generator<string | Buffer> {
  if (value instanceof JsonList) yield* value.pieces
  else if (holdsText(value)) {
    let separator = '{'
    for (const [name, part] of Object.entries(value as object)) {
      if (part === undefined) continue
      yield `${separator}${JSON.stringify(name)}:`
      yield* piecesOf(part)
      separator = ','
    }
    yield '}'
  } else yield JSON.stringify(value)
}

/** The body of an answer, and its bytes unless it is one text. */
export interface JsonBody {
  body: string | Readable
  length?: number
}

/** An answer with lists that are text already. */
export function bodyOf(answer: object): JsonBody {
  const pieces = [...piecesOf(answer)].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return length <= ONE_PIECE ? { body: Buffer.concat(pieces).toString() } : { body: Readable.from(pieces), length }
}
