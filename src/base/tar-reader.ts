import { TAR_BLOCK } from './tar-writer.ts'

// Reads untrusted tar archives entry by entry. Holds at most a header in memory and refuses whatever is ambiguous.

/** The archive is invalid; nothing after this point can be read. */
export class BadTar extends Error {
  override name = 'BadTar'
}

export interface TarEntry {
  name: string
  /** One character: `0` is a file, `5` a folder; others are links, devices and the like. */
  type: string
  size: number
  /** Seconds since the epoch. */
  mtime: number
  /** What the entry's extended header says. */
  keys: ReadonlyMap<string, string>
  /** The content. Read it before the next entry; the rest is skipped. */
  body: AsyncIterable<Uint8Array>
}

/** Largest extended header, in bytes: enough for the longest path and some keys. */
const MAX_EXTENDED = 16 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new BadTar('A name or key is not UTF-8.', { cause })
  }
}

/** A NUL-terminated field. */
function field(block: Uint8Array, from: number, length: number): string {
  const bytes = block.subarray(from, from + length)
  const end = bytes.indexOf(0)
  return textOf(end < 0 ? bytes : bytes.subarray(0, end))
}

function numberAt(block: Uint8Array, from: number, length: number): number {
  const text = field(block, from, length).trim()
  if (!/^[0-7]{0,12}$/.test(text)) throw new BadTar('A number in a header is not octal.')
  return text === '' ? 0 : Number.parseInt(text, 8)
}

/** Throws `BadTar` if the checksum of a header is wrong. */
function assertSum(block: Uint8Array): void {
  // An archive has thousands of headers, and an iterator would dominate the cost.
  let sum = 8 * 32
  for (let at = 0; at < 148; at++) sum += block[at]!
  for (let at = 156; at < TAR_BLOCK; at++) sum += block[at]!
  if (sum !== numberAt(block, 148, 8)) throw new BadTar('A header has a wrong checksum.')
}

/** The keys of an extended header: lines of `length key=value`. */
function keysOf(bytes: Uint8Array): Map<string, string> {
  const keys = new Map<string, string>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at)
    const digits = space < 0 || space - at > 6 ? '' : textOf(bytes.subarray(at, space))
    const end = at + (/^[1-9]\d*$/.test(digits) ? Number(digits) : 0)
    if (end <= space + 1 || end > bytes.length || bytes[end - 1] !== 10)
      throw new BadTar('An extended header is broken.')
    const line = textOf(bytes.subarray(space + 1, end - 1))
    const sign = line.indexOf('=')
    if (sign < 1) throw new BadTar('An extended header is broken.')
    keys.set(line.slice(0, sign), line.slice(sign + 1))
    at = end
  }
  return keys
}

function decimal(text: string): number {
  const value = /^\d{1,16}(\.\d*)?$/.test(text) ? Math.floor(Number(text)) : NaN
  if (!Number.isSafeInteger(value)) throw new BadTar('A number in an extended header is not one.')
  return value
}

/** Reads a source in portions of any size. An error of the source is thrown again on every later read. */
function portions(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array(0)
  let failure: Error | undefined

  /** At least one byte and at most `max`. */
  async function some(max: number): Promise<Uint8Array> {
    if (failure) throw failure
    try {
      while (rest.length === 0) {
        const next = await iterator.next()
        if (next.done) throw new BadTar('The archive ends too early.')
        rest = next.value
      }
    } catch (error) {
      failure = error instanceof Error ? error : new Error('The source failed.', { cause: error })
      throw failure
    }
    const portion = rest.subarray(0, max)
    rest = rest.subarray(portion.length)
    return portion
  }

  return {
    some,
    /** Valid until the next read. */
    async exactly(length: number): Promise<Uint8Array> {
      if (rest.length >= length && !failure) return some(length)
      const bytes = new Uint8Array(length)
      for (let filled = 0; filled < length;) {
        const portion = await some(length - filled)
        bytes.set(portion, filled)
        filled += portion.length
      }
      return bytes
    },
    async skip(length: number): Promise<void> {
      for (let left = length; left > 0;) left -= (await some(left)).length
    },
    /** Reads to the end; only zeros may follow, which fill the last record. */
    async end(): Promise<void> {
      for (let left = rest; ;) {
        if (left.some((byte) => byte !== 0)) throw new BadTar('There is data after its end.')
        const next = await iterator.next()
        if (next.done) return
        left = next.value
      }
    },
    close: async () => void (await iterator.return?.()),
  }
}

type Portions = ReturnType<typeof portions>

const padded = (size: number): number => Math.ceil(size / TAR_BLOCK) * TAR_BLOCK

function nameOf(block: Uint8Array): string {
  // Only POSIX headers have a prefix; others use these bytes differently.
  const prefix = field(block, 257, 6) === 'ustar' && block[262] === 0 ? field(block, 345, 155) : ''
  const name = field(block, 0, 100)
  return prefix ? `${prefix}/${name}` : name
}

/** The next header with the extended header before it; undefined at the end of the archive. */
async function nextHeader(bytes: Portions): Promise<Omit<TarEntry, 'body'> | undefined> {
  let keys = new Map<string, string>()
  for (;;) {
    const block = await bytes.exactly(TAR_BLOCK)
    if (block[0] === 0 && block.every((byte) => byte === 0)) return undefined
    // The first bytes of gzip (RFC 1952).
    if (block[0] === 0x1f && block[1] === 0x8b) throw new BadTar('It is compressed: decompress it first (gzip -dc).')
    assertSum(block)
    const type = block[156] === 0 ? '0' : String.fromCharCode(block[156]!)
    const size = numberAt(block, 124, 12)
    if (type === 'x' || type === 'g') {
      if (size > MAX_EXTENDED) throw new BadTar('An extended header is too long.')
      const read = await bytes.exactly(padded(size))
      // Global extended headers hold nothing that an entry needs.
      if (type === 'x') keys = keysOf(read.subarray(0, size))
      continue
    }
    if (type === 'L' || type === 'K') throw new BadTar('GNU long names are not supported; write the pax format.')
    const [longer, exact, stamp] = [keys.get('path'), keys.get('size'), keys.get('mtime')]
    return {
      name: longer ?? nameOf(block),
      type,
      size: exact === undefined ? size : decimal(exact),
      mtime: stamp === undefined ? numberAt(block, 136, 12) : decimal(stamp),
      keys,
    }
  }
}

interface Reading {
  /** Whether the source must end with the archive: other readers may continue past its end. */
  isWhole?: boolean
}

/** The entries of an archive, in order. Throws `BadTar` if it is invalid or its end is missing. */
export async function* readTar(
  source: AsyncIterable<Uint8Array>,
  { isWhole = false }: Reading = {},
): AsyncGenerator<TarEntry> {
  const bytes = portions(source)
  try {
    for (let head = await nextHeader(bytes); head; head = await nextHeader(bytes)) {
      let left = head.size
      async function* body(): AsyncGenerator<Uint8Array> {
        while (left > 0) {
          const portion = await bytes.some(left)
          left -= portion.length
          yield portion
        }
      }
      yield { ...head, body: body() }
      await bytes.skip(left + padded(head.size) - head.size)
    }
    if (isWhole) await bytes.end()
  } finally {
    await bytes.close()
  }
}
