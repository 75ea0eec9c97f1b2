import { fstatSync, readSync } from 'node:fs'

// Reads committed pages from the write-ahead log of SQLite (sqlite.org/fileformat2.html#walformat). A frame counts only
// if its salts are those of the log and its checksum continues that of the frame before; a transaction, once its last
// frame is there.

const LOG_HEADER = 32
const FRAME_HEADER = 24
/** Bytes read at a time. */
const PORTION = 4 << 20
/** Pages of one call that are kept in memory; about 256 MiB. */
const MAX_PAGES = 65_536

const LITTLE_ENDIAN = 0x377f0682
const BIG_ENDIAN = 0x377f0683

/** How much of the log was read: always up to the end of a transaction. */
export interface LogPosition {
  salts: bigint
  frames: number
  checksum: readonly [number, number]
}

/** Pages committed since a position. */
export interface LogPages {
  position: LogPosition
  /** The newest bytes by page number, from 1; undefined if they are too many. */
  pages: Map<number, Uint8Array> | undefined
  /** Length of the database in pages; undefined if there was no commit. */
  pageCount: number | undefined
}

interface LogHeader {
  pageSize: number
  salts: bigint
  isLittleEndian: boolean
  checksum: readonly [number, number]
}

function checksum(
  bytes: Buffer,
  isLittleEndian: boolean,
  [first, second]: readonly [number, number],
): readonly [number, number] {
  let [a, b] = [first, second]
  const read = isLittleEndian ? bytes.readUInt32LE.bind(bytes) : bytes.readUInt32BE.bind(bytes)
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + read(at) + b) >>> 0
    b = (b + read(at + 4) + a) >>> 0
  }
  return [a, b]
}

const equal = (a: readonly [number, number], b: readonly [number, number]): boolean => a[0] === b[0] && a[1] === b[1]

const pairAt = (bytes: Buffer, at: number): readonly [number, number] => [
  bytes.readUInt32BE(at),
  bytes.readUInt32BE(at + 4),
]

/** The header of a log; undefined while it is empty or being written. */
function headerOf(file: number): LogHeader | undefined {
  const bytes = Buffer.alloc(LOG_HEADER)
  if (readSync(file, bytes, 0, LOG_HEADER, 0) < LOG_HEADER) return undefined
  const magic = bytes.readUInt32BE(0)
  if (magic !== LITTLE_ENDIAN && magic !== BIG_ENDIAN) return undefined
  const isLittleEndian = magic === LITTLE_ENDIAN
  const sum = checksum(bytes.subarray(0, 24), isLittleEndian, [0, 0])
  if (!equal(sum, pairAt(bytes, 24))) return undefined
  return { pageSize: bytes.readUInt32BE(8), salts: bytes.readBigUInt64BE(16), isLittleEndian, checksum: sum }
}

/** The frames from a position to the end of the file, in order. */
function* framesFrom(file: number, { pageSize }: LogHeader, from: number): Generator<Buffer> {
  const length = FRAME_HEADER + pageSize
  const perPortion = Math.max(1, Math.floor(PORTION / length))
  const total = Math.floor((fstatSync(file).size - LOG_HEADER) / length)
  for (let frame = from; frame < total; frame += perPortion) {
    const wanted = Math.min(perPortion, total - frame)
    const portion = Buffer.allocUnsafe(wanted * length)
    const read = readSync(file, portion, 0, portion.length, LOG_HEADER + frame * length)
    for (let at = 0; at + length <= read; at += length) yield portion.subarray(at, at + length)
  }
}

/**
 * The pages that were committed since a position, or since the log was last restarted. Undefined while the log is empty.
 * The caller makes sure that the log was not restarted more than once since the position.
 */
export function readLog(file: number, since: LogPosition | undefined): LogPages | undefined {
  const header = headerOf(file)
  if (!header) return undefined
  const start = since?.salts === header.salts ? since : { salts: header.salts, frames: 0, checksum: header.checksum }
  const found: LogPages = { position: start, pages: new Map(), pageCount: undefined }
  let open = new Map<number, Uint8Array>()
  let sum = start.checksum
  let frames = start.frames
  for (const frame of framesFrom(file, header, start.frames)) {
    if (frame.readBigUInt64BE(8) !== header.salts) break
    sum = checksum(frame.subarray(0, 8), header.isLittleEndian, sum)
    sum = checksum(frame.subarray(FRAME_HEADER), header.isLittleEndian, sum)
    if (!equal(sum, pairAt(frame, 16))) break
    frames += 1
    if (found.pages) open.set(frame.readUInt32BE(0), Buffer.from(frame.subarray(FRAME_HEADER)))
    if (open.size + (found.pages?.size ?? 0) > MAX_PAGES) {
      found.pages = undefined
      open = new Map()
    }
    const pageCount = frame.readUInt32BE(4)
    if (pageCount === 0) continue
    for (const [page, bytes] of open) found.pages?.set(page, bytes)
    open.clear()
    found.pageCount = pageCount
    found.position = { salts: header.salts, frames, checksum: sum }
  }
  return found
}
