import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { DamagedBackup, type Piece } from './backup-manifest.ts'

// Records of a stream: a head of JSON and a body of pages, each sealed with ChaCha20-Poly1305 under a key of its file,
// or followed by a hash where the folder is not encrypted. Each tag also covers the one before, so that no record can be
// changed, left out, moved, or brought in from another stream unnoticed. Before them stand their two lengths with a tag of
// their own; files of format 1 lack that one, so that a changed length looks like a record that was never completed.

/** The head of a record. */
export interface StreamHead {
  /** Contains everything committed before this time, epoch ms. */
  at: number
  /** Length of the database in pages. */
  pageCount: number
  /** Pages of the body, in order. */
  pages: number[]
  /** Contents of the blob store that are in the folder since this record. */
  blobs: Piece[]
  /** Contents that could not be read when it was made. */
  missing: string[]
  /** Whether the base is complete with this record. */
  completes: boolean
  /** With `completes`, the last tags of chapters before, by name and in hex: what ends elsewhere is cut off. */
  ends?: Record<string, string>
}

const CIPHER = 'chacha20-poly1305'
/** Bytes of a tag. */
export const TAG = 16
const NONCE = 16
const MAGIC = Buffer.from('svc-stream 2\n')
const MAGIC_1 = Buffer.from('svc-stream 1\n')
const LENGTHS = 8
/** Longest head and body accepted, bytes. */
const MAX_HEAD = 64 << 20
const MAX_BODY = 512 << 20
const NOTHING = Buffer.alloc(0)

/** Length of what precedes the records of a file, and of what precedes each record, in bytes. */
export const FILE_HEADER = MAGIC.length + NONCE
export const RECORD_HEADER = LENGTHS + TAG

/** Seals and opens the records of one file, which must be passed in order. */
export interface RecordSeal {
  /** Whether lengths have a tag. */
  hasSealedLengths: boolean
  /** Bytes that precede each record. */
  header: number
  /** The tag that the next record continues. */
  last(): Buffer
  /** Throws `RangeError` for a record that would be too long to be read. */
  seal(head: Uint8Array, body: Uint8Array): Buffer
  /** Lengths of sealed head and body. Throws `DamagedBackup` if they were changed. */
  lengths(header: Uint8Array): { head: number; body: number }
  openHead(header: Uint8Array, sealed: Uint8Array): Buffer
  /** Follows `openHead`. Throws `DamagedBackup`. */
  openBody(sealed: Uint8Array): Buffer
  /** Skips the body of a record, as `openBody` without its check. */
  skipBody(tag: Uint8Array): void
}

export const newFileHeader = (): Buffer => Buffer.concat([MAGIC, randomBytes(NONCE)])

function formatOf(fileHeader: Uint8Array): { nonce: Uint8Array; hasSealedLengths: boolean } {
  const magic = fileHeader.subarray(0, MAGIC.length)
  const hasSealedLengths = MAGIC.equals(magic)
  if (!hasSealedLengths && !MAGIC_1.equals(magic)) throw new DamagedBackup('it does not begin as one')
  return { nonce: fileHeader.subarray(MAGIC.length), hasSealedLengths }
}

/** `context` names stream and file; `previous` is the last tag of the file before. Throws `DamagedBackup`. */
export function recordSeal(
  key: Uint8Array | undefined,
  fileHeader: Uint8Array,
  context: string,
  previous: Uint8Array,
): RecordSeal {
  const { nonce, hasSealedLengths } = formatOf(fileHeader)
  const fileKey = key && new Uint8Array(hkdfSync('sha256', key, nonce, 'svc backup stream', 32))
  let chain: Buffer = Buffer.from(previous)
  let counter = 0

  const nextNonce = (): Buffer => {
    const bytes = Buffer.alloc(12)
    bytes.writeUIntBE(counter++, 6, 6)
    return bytes
  }
  const known = (extra: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${context}\n`), chain, extra])
  const hashOf = (extra: Uint8Array, plain: Uint8Array): Buffer =>
    createHash('sha256').update(nonce).update(known(extra)).update(plain).digest().subarray(0, TAG)

  function sealPart(extra: Uint8Array, plain: Uint8Array): Buffer {
    const iv = nextNonce()
    if (!fileKey) {
      chain = hashOf(extra, plain)
      return Buffer.concat([plain, chain])
    }
    const cipher = createCipheriv(CIPHER, fileKey, iv, { authTagLength: TAG })
    cipher.setAAD(known(extra), { plaintextLength: plain.length })
    const sealed = cipher.update(plain)
    cipher.final()
    chain = cipher.getAuthTag()
    return Buffer.concat([sealed, chain])
  }

  function openPart(extra: Uint8Array, sealed: Uint8Array): Buffer {
    const iv = nextNonce()
    const [content, tag] = [sealed.subarray(0, -TAG), Buffer.from(sealed.subarray(-TAG))]
    if (!fileKey) {
      if (!hashOf(extra, content).equals(tag)) throw new DamagedBackup('it was changed')
      chain = tag
      return Buffer.from(content)
    }
    try {
      const decipher = createDecipheriv(CIPHER, fileKey, iv, { authTagLength: TAG })
      decipher.setAAD(known(extra), { plaintextLength: content.length })
      decipher.setAuthTag(tag)
      const plain = decipher.update(content)
      decipher.final()
      chain = tag
      return plain
    } catch (cause) {
      throw new DamagedBackup('it was changed, or belongs to another place or key', { cause })
    }
  }

  return {
    hasSealedLengths,
    header: hasSealedLengths ? RECORD_HEADER : LENGTHS,
    last: () => chain,
    seal(head, body) {
      if (head.length + TAG > MAX_HEAD || body.length + TAG > MAX_BODY)
        throw new RangeError('A record of the stream is too long.')
      const lengths = Buffer.alloc(LENGTHS)
      lengths.writeUInt32BE(head.length + TAG, 0)
      lengths.writeUInt32BE(body.length + TAG, 4)
      const tag = hasSealedLengths ? sealPart(lengths, NOTHING) : NOTHING
      return Buffer.concat([lengths, tag, sealPart(lengths, head), sealPart(NOTHING, body)])
    },
    lengths(header) {
      const view = Buffer.from(header)
      if (hasSealedLengths) openPart(view.subarray(0, LENGTHS), view.subarray(LENGTHS))
      const [head, body] = [view.readUInt32BE(0), view.readUInt32BE(4)]
      if (head < TAG || body < TAG || head > MAX_HEAD || body > MAX_BODY) throw new DamagedBackup('it was changed')
      return { head, body }
    },
    openHead: (header, sealed) => openPart(header.subarray(0, LENGTHS), sealed),
    openBody: (sealed) => openPart(NOTHING, sealed),
    skipBody(tag) {
      nextNonce()
      chain = Buffer.from(tag)
    },
  }
}

export const headText = (head: StreamHead): Buffer => Buffer.from(JSON.stringify(head))

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const HASH = /^[0-9a-f]{64}$/
const HEX_TAG = /^[0-9a-f]{32}$/

/** Parses the head of a record. Throws `DamagedBackup`. */
export function parseHead(text: Uint8Array): StreamHead {
  const isValid = (head: Partial<StreamHead> | null): head is StreamHead =>
    typeof head?.at === 'number' &&
    isCount(head.pageCount) &&
    Array.isArray(head.pages) &&
    head.pages.every((page) => isCount(page) && page > 0) &&
    Array.isArray(head.blobs) &&
    head.blobs.every(({ sha256, size }) => HASH.test(sha256) && isCount(size)) &&
    Array.isArray(head.missing) &&
    typeof head.completes === 'boolean' &&
    Object.values(head.ends ?? {}).every((tag) => HEX_TAG.test(tag))
  try {
    const head = JSON.parse(Buffer.from(text).toString()) as Partial<StreamHead> | null
    if (isValid(head)) return head
  } catch {
    // It is not JSON.
  }
  throw new DamagedBackup('its head is not valid')
}
