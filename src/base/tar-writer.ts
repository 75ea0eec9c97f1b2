// Writes tar archives in the pax format (IEEE Std 1003.1): ustar with extended headers.

export const TAR_BLOCK = 512

const encoder = new TextEncoder()

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`

/** Largest size and time that fit the octal fields of a header. */
const LARGEST = 8 ** 11 - 1

function header(
  name: string,
  type: string,
  size: number,
  mtime: number,
  mode = type === '5' ? 0o755 : 0o644,
): Uint8Array {
  const block = new Uint8Array(TAR_BLOCK)
  const put = (text: string, at: number) => encoder.encodeInto(text, block.subarray(at))
  put(name, 0)
  put(octal(mode, 7), 100)
  put(octal(0, 7), 108)
  put(octal(0, 7), 116)
  put(octal(size, 11), 124)
  put(octal(mtime, 11), 136)
  put('        ', 148)
  put(type, 156)
  put('ustar\u000000', 257)
  let sum = 0
  for (let at = 0; at < TAR_BLOCK; at++) sum += block[at]!
  put(`${octal(sum, 6)} `, 148)
  return block
}

/** One `length key=value` line, whose length counts its own digits. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = encoder.encode(rest).length
  let length = bytes + String(bytes).length
  if (length !== bytes + String(length).length) length += 1
  return `${length}${rest}`
}

/** The zeros after a content of `size` bytes that fill its last block. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK)

/** The end marker of an archive. */
export const tarEnd = (): Uint8Array => new Uint8Array(2 * TAR_BLOCK)

export interface TarHeader {
  name: string
  /** Bytes of the content, which follows the header and is followed by `tarPadding`. */
  size: number
  /** Seconds since the epoch. */
  mtime: number
  /** Permissions; by default a file is readable by everybody. */
  mode?: number
  /** Further keys of the extended header. */
  keys?: Record<string, string>
  /** A folder, without content. */
  folder?: true
}

/** The header of a file or folder, preceded by an extended header where the plain one is too small. */
export function tarHeader({ name, size, mtime, mode, keys = {}, folder }: TarHeader): Uint8Array {
  if (size > LARGEST || mtime > LARGEST) keys = { ...keys, size: String(size), mtime: String(mtime) }
  const isPlain = /^[\x20-\x7e]{1,100}$/.test(name)
  const extended = Object.entries(isPlain ? keys : { ...keys, path: name })
  const shown = isPlain ? name : 'file'
  const own = header(shown, folder ? '5' : '0', Math.min(size, LARGEST), Math.min(mtime, LARGEST), mode)
  if (extended.length === 0) return own
  const records = encoder.encode(extended.map(([key, value]) => record(key, value)).join(''))
  const parts = [header('pax', 'x', records.length, 0), records, tarPadding(records.length), own]
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
