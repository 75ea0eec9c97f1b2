import { isUtf8 } from 'node:buffer'
import { addAbortSignal, type Readable } from 'node:stream'

/** All bytes of a content that `Contents.read` returned. Rejects when `signal` aborts. */
export async function contentBytes(content: Readable | Buffer, signal?: AbortSignal): Promise<Buffer> {
  if (Buffer.isBuffer(content)) return content
  if (signal) addAbortSignal(signal, content)
  const pieces: Uint8Array[] = []
  for await (const piece of content as AsyncIterable<Uint8Array>) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** The text of UTF-8; undefined for other bytes. NUL is valid UTF-8, but does not occur in text. */
export const utf8Text = (bytes: Buffer): string | undefined =>
  isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined
