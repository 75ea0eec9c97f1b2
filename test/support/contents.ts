import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeRandom } from './random.ts'

export const sha256Of = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Pseudo-random bytes by seed. */
export function bytesOf(length: number, seed = 1): Buffer {
  const random = makeRandom(seed)
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(random.below(2 ** 32), at)
  for (let at = length - (length % 4); at < length; at += 1) bytes[at] = random.below(256)
  return bytes
}

/** A stream of a content in pieces of a size, sent with chunked transfer coding. */
export function chunked(content: Uint8Array, piece: number): ReadableStream {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= content.length) return controller.close()
      controller.enqueue(content.subarray(at, at + piece))
      at += piece
    },
  })
}

/** A body in chunked transfer coding with one byte per chunk. */
export function tinyChunks(content: Uint8Array): Buffer {
  const coded = Buffer.alloc(content.length * 6, '1\r\nx\r\n')
  for (let at = 0; at < content.length; at++) coded[at * 6 + 3] = content[at]!
  return Buffer.concat([coded, Buffer.from('0\r\n\r\n')])
}

/** Relative paths of all files below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
}

/** Temporary files of uploads in a data directory. */
export const temporaryFilesOf = (dataDir: string): Promise<string[]> => filesBelow(join(dataDir, 'blobs', 'tmp'))

/** Hashes of the contents in the blob store of a data directory. */
export const blobsOf = async (dataDir: string): Promise<string[]> =>
  (await filesBelow(join(dataDir, 'blobs')))
    .filter((path) => /[0-9a-f]{64}$/.test(path) && !path.startsWith('tmp'))
    .map((path) => path.slice(-64))
