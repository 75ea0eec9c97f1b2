import { createHash } from 'node:crypto'
import { tarHeader, tarPadding } from '../../base/tar-writer.ts'

export type WritePiece = (piece: Uint8Array) => Promise<void>

const encoder = new TextEncoder()

interface Entry {
  path: string
  size: number
  sha256: string
}

/** Writes entries and records their sizes and hashes. */
export function makeTar(write: WritePiece, now: number) {
  const entries: Entry[] = []

  /** Throws if the pieces do not have this size and, if given, this hash. */
  async function put(
    path: string,
    mtime: number,
    { size, sha256 }: { size: number; sha256?: string },
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    await write(tarHeader({ name: path, size, mtime }))
    const hash = createHash('sha256')
    let written = 0
    for await (const piece of pieces) {
      hash.update(piece)
      written += piece.length
      if (written > size) break
      await write(piece)
    }
    const found = hash.digest('hex')
    if (written !== size || (sha256 !== undefined && found !== sha256))
      throw new Error(`${path} is damaged: restore it from a backup or delete it, and export again.`)
    await write(tarPadding(size))
    entries.push({ path, size, sha256: found })
  }

  return {
    entries,
    put,
    async folder(path: string): Promise<void> {
      await write(tarHeader({ name: `${path}/`, size: 0, mtime: now, folder: true }))
    },
    text: (path: string, text: string): Promise<void> => {
      const bytes = encoder.encode(text)
      return put(path, now, { size: bytes.length }, once(bytes))
    },
    /** One JSON object per line. They are generated twice: first for the size, which precedes them. */
    async lines(path: string, make: () => AsyncIterable<unknown>): Promise<void> {
      let size = 0
      for await (const piece of linesOf(make())) size += piece.length
      if (size > 0) await put(path, now, { size }, linesOf(make()))
    },
  }
}

export type Tar = ReturnType<typeof makeTar>

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

/** Groups lines of JSON into larger pieces. */
async function* linesOf(objects: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const object of objects) {
    text += `${JSON.stringify(object)}\n`
    if (text.length < 64 * 1024) continue
    yield encoder.encode(text)
    text = ''
  }
  if (text !== '') yield encoder.encode(text)
}
