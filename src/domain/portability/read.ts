import { createHash } from 'node:crypto'
import { strictJsonProblem } from '../../base/json-positions.ts'
import { BadTar, readTar, type TarEntry } from '../../base/tar-reader.ts'
import { LATEST_MTIME } from '../../contract/limits.ts'
import { BadArchive } from './bad-archive.ts'
import { partOf, type Part } from './layout.ts'

export interface ArchiveEntry {
  name: string
  part: Part
  size: number
  /** Seconds. */
  mtime: number
  body: AsyncIterable<Uint8Array>
  /** SHA-256 of the body; undefined until it was read completely. */
  sha256(): string | undefined
}

/** Yields the entries of an archive. Throws `BadArchive` at the first invalid one. */
export async function* entriesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveEntry> {
  try {
    for await (const entry of readTar(source, { isWhole: true })) yield toEntry(entry)
  } catch (error) {
    throw toBadArchive(error)
  }
}

/** Converts tar errors to `BadArchive`; others are unchanged. */
function toBadArchive(error: unknown): unknown {
  if (!(error instanceof BadTar)) return error
  const clause = error.message.replace(/\.$/, '').replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
  return new BadArchive(clause, { cause: error })
}

function toEntry({ name, type, size, mtime, body }: TarEntry): ArchiveEntry {
  const part = partOf(name, type)
  if (type === '5' && size !== 0) throw new BadArchive(`the folder "${name}" has a content`)
  if (mtime > LATEST_MTIME) throw new BadArchive(`"${name}" is of a time too far in the future`)
  const hash = createHash('sha256')
  let digest: string | undefined
  async function* hashed(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of body) {
        hash.update(piece)
        yield piece
      }
    } catch (error) {
      throw toBadArchive(error)
    }
    digest = hash.digest('hex')
  }
  return {
    name,
    part,
    size,
    mtime,
    body: hashed(),
    sha256: () => digest,
  }
}

export async function discardBody({ body }: ArchiveEntry): Promise<void> {
  for await (const _ of body);
}

/** Parses a body of at most `max` bytes as one JSON value. */
export async function jsonOf({ name, body, size }: ArchiveEntry, max: number): Promise<unknown> {
  if (size > max) throw new BadArchive(`${name} is too large`)
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return parsed(Buffer.concat(pieces), name)
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parsed(bytes: Uint8Array, where: string): unknown {
  let text: string
  let value: unknown
  try {
    text = decoder.decode(bytes)
    value = JSON.parse(text)
  } catch (cause) {
    throw new BadArchive(`${where} is not JSON in UTF-8`, { cause })
  }
  const problem = strictJsonProblem(text)
  if (problem) throw new BadArchive(`${where}: ${problem.message}`)
  return value
}

/** Longest line, bytes: a row or a component version with all its text escaped. */
const LONGEST = 16 * 1024 * 1024

/** A line of JSON, and its length. */
interface Line {
  value: unknown
  where: string
  bytes: number
}

/** Parses a body with one JSON value per line; each has its position for messages. */
export async function* jsonLines({ name, body }: ArchiveEntry): AsyncGenerator<Line> {
  let rest: Uint8Array[] = []
  let length = 0
  let line = 0
  for await (const piece of body) {
    let from = 0
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      const where = `${name} line ${++line}`
      const text = Buffer.concat([...rest, piece.subarray(from, end)])
      yield { value: parsed(text, where), where, bytes: text.length }
      rest = []
      length = 0
      from = end + 1
    }
    if (from === piece.length) continue
    rest.push(piece.slice(from))
    length += piece.length - from
    if (length > LONGEST) throw new BadArchive(`${name} line ${line + 1} is too long`)
  }
  if (length > 0) throw new BadArchive(`${name} ends in the middle of a line`)
}
