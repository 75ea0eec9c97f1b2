import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { DamagedBackup } from './backup-manifest.ts'

// The payload of the age format (age-encryption.org/v1): a 16-byte nonce, which together with a secret derives the key,
// then chunks of 64 KiB, each encrypted with ChaCha20-Poly1305 under a counter and a flag for the last one (STREAM).
// Node's cipher is some twenty times faster than the age library.

const NONCE = 16
const CHUNK = 64 * 1024
const TAG = 16
const CIPHER = 'chacha20-poly1305'

/** Input of the payload key; `info` is `payload` for files that the `age` program reads. */
export interface StreamKey {
  secret: Uint8Array
  purpose: string
}

/** A source for random reads; `end` is exclusive. */
export interface Bytes {
  size: number
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

const keyOf = ({ secret, purpose }: StreamKey, nonce: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, nonce, purpose, 32))

function counterOf(index: number, isLast: boolean): Uint8Array {
  const counter = Buffer.alloc(12)
  counter.writeUIntBE(index, 5, 6)
  counter[11] = isLast ? 1 : 0
  return counter
}

/** Encrypted length of this many bytes. */
export const sealedSize = (plain: number): number => NONCE + plain + TAG * Math.max(1, Math.ceil(plain / CHUNK))

/** Plain length of an encrypted payload; undefined if the length is impossible. */
function plainSize(sealed: number): number | undefined {
  const body = sealed - NONCE
  const chunks = Math.ceil(body / (CHUNK + TAG))
  const plain = body - chunks * TAG
  return chunks > 0 && sealedSize(plain) === sealed && plain >= 0 ? plain : undefined
}

/** Pieces of exactly `length` bytes; the last may be shorter, and exists even if the source is empty. */
async function* cut(
  source: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<[piece: Buffer, isLast: boolean]> {
  let parts: Uint8Array[] = []
  let buffered = 0
  for await (const chunk of source) {
    let rest = chunk
    while (rest.length > 0) {
      // Hold one piece back: only more data shows that it is not the last.
      if (buffered === length) {
        yield [Buffer.concat(parts, buffered), false]
        parts = []
        buffered = 0
      }
      const taken = rest.subarray(0, length - buffered)
      parts.push(taken)
      buffered += taken.length
      rest = rest.subarray(taken.length)
    }
  }
  yield [Buffer.concat(parts, buffered), true]
}

export async function* seal(key: StreamKey, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const nonce = randomBytes(NONCE)
  yield nonce
  const payloadKey = keyOf(key, nonce)
  let index = 0
  for await (const [piece, isLast] of cut(source, CHUNK)) {
    const cipher = createCipheriv(CIPHER, payloadKey, counterOf(index++, isLast), { authTagLength: TAG })
    yield cipher.update(piece)
    cipher.final()
    yield cipher.getAuthTag()
  }
}

function openChunk(key: Uint8Array, index: number, isLast: boolean, chunk: Buffer, what: string): Buffer {
  const decipher = createDecipheriv(CIPHER, key, counterOf(index, isLast), { authTagLength: TAG })
  try {
    decipher.setAuthTag(chunk.subarray(-TAG))
    const plain = decipher.update(chunk.subarray(0, -TAG))
    decipher.final()
    return plain
  } catch (cause) {
    throw new DamagedBackup(`${what} was changed, or belongs to another key.`, { cause })
  }
}

async function allOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}

/** The bytes inside a payload, any part of them. What is yielded is authentic. Throws `DamagedBackup`, which names `what` it is. */
export async function openSealed(key: StreamKey, sealed: Bytes, what: string): Promise<Bytes> {
  const size = plainSize(sealed.size)
  if (size === undefined) throw new DamagedBackup(`${what} is truncated.`)
  const payloadKey = keyOf(key, await allOf(sealed.read(0, NONCE)))
  const last = Math.max(0, Math.ceil(size / CHUNK) - 1)
  return {
    size,
    async *read(start, end) {
      const first = Math.min(last, Math.floor(start / CHUNK))
      const from = NONCE + first * (CHUNK + TAG)
      const until = Math.min(sealed.size, NONCE + Math.ceil(Math.max(end, 1) / CHUNK) * (CHUNK + TAG))
      let index = first
      for await (const [chunk] of cut(sealed.read(from, until), CHUNK + TAG)) {
        const plain = openChunk(payloadKey, index, index === last, chunk, what)
        const at = index * CHUNK
        index += 1
        const part = plain.subarray(Math.max(0, start - at), Math.max(0, end - at))
        if (part.length > 0) yield part
      }
    },
  }
}
