import { createHash } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { errorCode } from '../../base/errors.ts'
import { UNTRUSTED } from '../../host/regular-file.ts'
import { DamagedBackup, type Piece } from './backup-manifest.ts'
import { namesInBucket, openObject } from './bucket.ts'
import { isBucket } from './repository-path.ts'
import type { Bytes } from './stream-cipher.ts'

const PORTION = 1 << 20

export interface OpenFile extends Bytes {
  close(): Promise<void>
}

/** Opens an untrusted file, or an object of a bucket. Throws `DamagedBackup` for anything but a regular file, and system errors. */
export async function openBytes(path: string): Promise<OpenFile> {
  if (isBucket(path)) return openObject(path)
  const file = await open(path, UNTRUSTED).catch((error: unknown) => {
    if (errorCode(error) === 'ELOOP') throw new DamagedBackup(`${path} is a link.`)
    throw error
  })
  try {
    const facts = await file.stat()
    if (!facts.isFile()) throw new DamagedBackup(`${path} is not a file.`)
    return {
      size: facts.size,
      async *read(start, end) {
        for (let at = start; at < end;) {
          const buffer = Buffer.allocUnsafe(Math.min(PORTION, end - at))
          const { bytesRead } = await file.read(buffer, 0, buffer.length, at).catch((cause: unknown) => {
            if (errorCode(cause) === 'EIO') throw new DamagedBackup(`${path} cannot be read from the disk.`, { cause })
            throw cause
          })
          if (bytesRead === 0) throw new DamagedBackup(`${path} is truncated.`)
          at += bytesRead
          yield buffer.subarray(0, bytesRead)
        }
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Reads bytes of a known length into memory. */
export async function readAll(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}

/** Reads all bytes and returns whether they have this hash and length. */
export async function isSound(piece: Piece, source: AsyncIterable<Uint8Array>): Promise<boolean> {
  try {
    for await (const _ of verified(piece, source));
    return true
  } catch (error) {
    if (error instanceof DamagedBackup) return false
    throw error
  }
}

/** Passes bytes on, never more than expected, and throws `DamagedBackup` at the end if hash or length differ. */
export async function* verified(
  { sha256, size }: Piece,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let left = size
  for await (const part of source) {
    left -= part.length
    if (left < 0) break
    hash.update(part)
    yield part
  }
  if (left !== 0 || hash.digest('hex') !== sha256) throw new DamagedBackup(`The object ${sha256} is damaged.`)
}

/** The names in a folder, or below an address in a bucket; empty if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  if (isBucket(folder)) return namesInBucket(folder)
  try {
    return await readdir(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return []
    throw error
  }
}
