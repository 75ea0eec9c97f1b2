// Writes zip archives (PKWARE APPNOTE) front to back: ZIP64 beyond 32 bits, UTF-8 names, and times in both UTC and
// local form.

export interface ZipEntry {
  /** Path within the archive; that of a folder ends with a slash. */
  name: string
  /** Bytes of the content; 0 for a folder. */
  size: number
  /** Seconds since the epoch. */
  mtime: number
}

/** Computes CRC-32 of bytes, continuing from the sum `before`. */
type Crc32 = (bytes: Uint8Array, before?: number) => number

/** Contents up to this size, in bytes, are read completely before the header is written. */
const WHOLE_MAX = 64 * 1_024
/** Largest stored block of deflate, in bytes, and the length of its header. */
const BLOCK = 0xffff
const BLOCK_HEAD = 5
/** From this value on a 32- or 16-bit field refers to its ZIP64 counterpart. */
const MAX32 = 0xffffffff
const MAX16 = 0xffff
/** The last second that the field of UTC times holds. */
const LAST_UTC = 0x7fffffff

const encoder = new TextEncoder()

/** The form of an entry in the archive. */
interface Form {
  name: Uint8Array
  isFolder: boolean
  /** Whether the content is in blocks, with its checksum after it. */
  isStreamed: boolean
  /** Bytes of the content in the archive. */
  packed: number
  /** Whether its sizes need ZIP64. */
  isLarge: boolean
  hasUtc: boolean
}

function formOf({ name, size, mtime }: ZipEntry): Form {
  const isStreamed = size > WHOLE_MAX
  const packed = isStreamed ? size + BLOCK_HEAD * Math.ceil(size / BLOCK) : size
  return {
    name: encoder.encode(name),
    isFolder: name.endsWith('/'),
    isStreamed,
    packed,
    isLarge: packed >= MAX32,
    hasUtc: mtime <= LAST_UTC,
  }
}

/** A buffer of fixed length, filled with little-endian numbers in order. */
function record(length: number) {
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  let at = 0
  const self = {
    bytes,
    u16: (value: number) => (view.setUint16((at += 2) - 2, value, true), self),
    u32: (value: number) => (view.setUint32((at += 4) - 4, value, true), self),
    u64: (value: number) => self.u32(value % 2 ** 32).u32(Math.floor(value / 2 ** 32)),
    raw: (value: Uint8Array) => (bytes.set(value, (at += value.length) - value.length), self),
  }
  return self
}

/** Local time in MS-DOS format: resolution of two seconds, 1980 to 2107. */
function wallTime(mtime: number): number {
  const at = new Date(mtime * 1_000)
  const year = at.getFullYear()
  if (year < 1980) return (1 << 21) | (1 << 16)
  if (year > 2107) return 0xff9fbf7d
  const date = ((year - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate()
  return ((date << 16) | (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1)) >>> 0
}

const UTC_FIELD = 9
const utcField = (mtime: number): Uint8Array =>
  record(UTC_FIELD).u16(0x5455).u16(5).raw(Uint8Array.of(1)).u32(mtime).bytes

const wideLength = (values: number): number => (values === 0 ? 0 : 4 + 8 * values)
function wideField(values: number[]): Uint8Array {
  const field = record(wideLength(values.length))
  if (values.length === 0) return field.bytes
  field.u16(1).u16(8 * values.length)
  for (const value of values) field.u64(value)
  return field.bytes
}

const extraLength = (form: Form, wide: number): number => (form.hasUtc ? UTC_FIELD : 0) + wideLength(wide)
const extraOf = (form: Form, mtime: number, wide: number[]): Uint8Array[] => [
  ...(form.hasUtc ? [utcField(mtime)] : []),
  wideField(wide),
]

const LOCAL = 30
const localLength = (form: Form): number => LOCAL + form.name.length + extraLength(form, form.isLarge ? 2 : 0)
const descriptorLength = (form: Form): number => (form.isStreamed ? (form.isLarge ? 24 : 16) : 0)

/** Version, flags, method and time, which headers and directory share. */
const common = (form: Form, mtime: number): Uint8Array =>
  record(10)
    .u16(form.isLarge ? 45 : 20)
    .u16(0x0800 | (form.isStreamed ? 0x0008 : 0))
    .u16(form.isStreamed ? 8 : 0)
    .u32(wallTime(mtime)).bytes

function localHeader(form: Form, { size, mtime }: ZipEntry, crc: number): Uint8Array {
  const known = form.isStreamed ? 0 : size
  const shown = form.isLarge ? MAX32 : known
  const header = record(localLength(form))
    .u32(0x04034b50)
    .raw(common(form, mtime))
    .u32(form.isStreamed ? 0 : crc)
  header.u32(shown).u32(shown).u16(form.name.length)
  header.u16(extraLength(form, form.isLarge ? 2 : 0)).raw(form.name)
  for (const field of extraOf(form, mtime, form.isLarge ? [0, 0] : [])) header.raw(field)
  return header.bytes
}

function descriptor(form: Form, size: number, crc: number): Uint8Array {
  const tail = record(descriptorLength(form)).u32(0x08074b50).u32(crc)
  return (form.isLarge ? tail.u64(form.packed).u64(size) : tail.u32(form.packed).u32(size)).bytes
}

const CENTRAL = 46
const wideInCentral = (form: Form, offset: number): number => (form.isLarge ? 2 : 0) + (offset >= MAX32 ? 1 : 0)
const centralLength = (form: Form, offset: number): number =>
  CENTRAL + form.name.length + extraLength(form, wideInCentral(form, offset))

/** Unix modes: files 0644, folders 0755. */
const modeOf = ({ isFolder }: Form): number => (isFolder ? 0o40755 * 0x10000 + 0x10 : 0o100644 * 0x10000)

function centralHeader(form: Form, { size, mtime }: ZipEntry, crc: number, offset: number): Uint8Array {
  const wide = [...(form.isLarge ? [size, form.packed] : []), ...(offset >= MAX32 ? [offset] : [])]
  const header = record(centralLength(form, offset))
    .u32(0x02014b50)
    .u16((3 << 8) | 45)
    .raw(common(form, mtime))
    .u32(crc)
  header.u32(form.isLarge ? MAX32 : form.packed).u32(form.isLarge ? MAX32 : size)
  header.u16(form.name.length).u16(extraLength(form, wide.length)).u16(0).u16(0).u16(0)
  header.u32(modeOf(form)).u32(Math.min(offset, MAX32)).raw(form.name)
  for (const field of extraOf(form, mtime, wide)) header.raw(field)
  return header.bytes
}

interface Directory {
  count: number
  offset: number
  length: number
}

const needsWideEnd = ({ count, offset, length }: Directory): boolean =>
  count >= MAX16 || offset >= MAX32 || length >= MAX32

const endLength = (directory: Directory): number => (needsWideEnd(directory) ? 76 : 0) + 22

function endOf(directory: Directory): Uint8Array {
  const { count, offset, length } = directory
  const end = record(endLength(directory))
  if (needsWideEnd(directory)) {
    end
      .u32(0x06064b50)
      .u64(44)
      .u16((3 << 8) | 45)
      .u16(45)
      .u32(0)
      .u32(0)
      .u64(count)
      .u64(count)
      .u64(length)
      .u64(offset)
    end
      .u32(0x07064b50)
      .u32(0)
      .u64(offset + length)
      .u32(1)
  }
  const shown = Math.min(count, MAX16)
  end
    .u32(0x06054b50)
    .u16(0)
    .u16(0)
    .u16(shown)
    .u16(shown)
    .u32(Math.min(length, MAX32))
    .u32(Math.min(offset, MAX32))
    .u16(0)
  return end.bytes
}

const lengthOf = (form: Form): number => localLength(form) + form.packed + descriptorLength(form)

/** The length in bytes of the archive that `zipOf` writes. */
export function zipLength(entries: readonly ZipEntry[]): number {
  const directory: Directory = { count: entries.length, offset: 0, length: 0 }
  for (const entry of entries) {
    const form = formOf(entry)
    directory.length += centralLength(form, directory.offset)
    directory.offset += lengthOf(form)
  }
  return directory.offset + directory.length + endLength(directory)
}

const unlike = (name: string): Error => new Error(`The content of ${name} does not have the announced length.`)

/** A content of known size in stored deflate blocks; returns its checksum. */
async function* blocksOf(
  { name, size }: ZipEntry,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  crc32: Crc32,
): AsyncGenerator<Uint8Array, number> {
  let crc = 0
  let left = size
  let room = 0
  for await (const piece of content) {
    crc = crc32(piece, crc)
    for (let at = 0; at < piece.length;) {
      if (room === 0) {
        if (left === 0) throw unlike(name)
        room = Math.min(BLOCK, left)
        left -= room
        yield record(BLOCK_HEAD)
          .raw(Uint8Array.of(left === 0 ? 1 : 0))
          .u16(room)
          .u16(~room & 0xffff).bytes
      }
      const part = piece.subarray(at, at + room)
      yield part
      at += part.length
      room -= part.length
    }
  }
  if (left > 0 || room > 0) throw unlike(name)
  return crc
}

/** A content of at most `WHOLE_MAX` bytes. */
async function wholeOf(
  { name, size }: ZipEntry,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array> {
  const whole = new Uint8Array(size)
  let at = 0
  for await (const piece of content) {
    if (at + piece.length > size) throw unlike(name)
    whole.set(piece, at)
    at += piece.length
  }
  if (at < size) throw unlike(name)
  return whole
}

/**
 * Writes an archive in pieces. Nothing is compressed, so the length is known beforehand. `read` is called for one
 * content after another; if it throws, or returns another length, the archive fails. Only checksums are kept in memory.
 */
export async function* zipOf<E extends ZipEntry>(
  entries: readonly E[],
  read: (entry: E) => Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>,
  crc32: Crc32,
): AsyncGenerator<Uint8Array> {
  const sums = new Uint32Array(entries.length)
  const directory: Directory = { count: entries.length, offset: 0, length: 0 }
  for (const [index, entry] of entries.entries()) {
    const form = formOf(entry)
    if (form.isStreamed) {
      yield localHeader(form, entry, 0)
      const crc = (sums[index] = yield* blocksOf(entry, await read(entry), crc32))
      yield descriptor(form, entry.size, crc)
    } else {
      const whole = form.isFolder ? new Uint8Array(0) : await wholeOf(entry, await read(entry))
      yield localHeader(form, entry, (sums[index] = crc32(whole)))
      yield whole
    }
    directory.offset += lengthOf(form)
  }
  let offset = 0
  for (const [index, entry] of entries.entries()) {
    const form = formOf(entry)
    const header = centralHeader(form, entry, sums[index]!, offset)
    directory.length += header.length
    yield header
    offset += lengthOf(form)
  }
  yield endOf(directory)
}
