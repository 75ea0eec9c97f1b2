import { readTar } from '../../src/base/tar-reader.ts'
import { tarEnd, tarHeader, tarPadding } from '../../src/base/tar-writer.ts'

export interface Packed {
  name: string
  content?: string | Uint8Array
  /** One character; default `0`, a file. */
  type?: string
  mtime?: number
  keys?: Record<string, string>
  /** Overrides the size of the content. */
  size?: number
}

/** Sets the type in a header and updates its checksum. */
function retyped(header: Uint8Array, type: string): Uint8Array {
  const block = header.subarray(-512)
  block[156] = type.charCodeAt(0)
  block.fill(32, 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.set(Buffer.from(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  return header
}

export const entryBytes = ({ name, content = '', type, mtime = 1_000, keys = {}, size }: Packed): Buffer => {
  const bytes = Buffer.from(content as string)
  const header = tarHeader({ name, size: size ?? bytes.length, mtime, keys })
  return Buffer.concat([type === undefined ? header : retyped(header, type), bytes, tarPadding(bytes.length)])
}

/** An archive as a client sends it. */
export const tarOf = (...entries: Packed[]): Buffer => Buffer.concat([...entries.map(entryBytes), tarEnd()])

/** Entries of an archive with their contents. */
export async function unpacked(archive: Uint8Array, piece = archive.length) {
  async function* pieces() {
    for (let at = 0; at < archive.length; at += piece) yield archive.subarray(at, at + piece)
  }
  const entries = []
  for await (const { name, type, size, mtime, keys, body } of readTar(pieces())) {
    const content: Uint8Array[] = []
    for await (const part of body) content.push(part)
    entries.push({
      name,
      type,
      size,
      mtime,
      keys: Object.fromEntries(keys),
      content: Buffer.concat(content).toString(),
    })
  }
  return entries
}
