import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Answer } from '../contract/define.ts'
import { syncFiles } from '../contract/sync-files.ts'
import type { Api, CallOptions } from './api.ts'

/** A local file as it was found: read twice, once for the checksum and once for the bytes. */
export interface Found {
  file: FileHandle
  size: number
  sha256: string
  /** Seconds since the epoch. */
  mtime: number
}

/** Measures an open file. */
export async function measure(file: FileHandle): Promise<Found> {
  const { mtimeMs } = await file.stat()
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of read(file)) {
    hash.update(chunk)
    size += chunk.length
  }
  return { file, size, sha256: hash.digest('hex'), mtime: Math.max(0, Math.floor(mtimeMs / 1_000)) }
}

export interface UploadOptions extends CallOptions {
  /** Only where there is no such file yet. */
  ifAbsent?: boolean
  /** Told the bytes of each piece that is handed over. */
  sent?(bytes: number): void
}

/** Sends a file with its checksum, so that the server stores exactly what was measured or nothing. */
export function upload(
  api: Api,
  path: string,
  { file, size, sha256, mtime }: Found,
  { ifAbsent = false, sent, ...options }: UploadOptions = {},
): Promise<Answer<typeof syncFiles.actions.upload>> {
  const headers = { 'x-file-sha256': sha256, ...(ifAbsent ? { 'if-none-match': '*' } : {}) }
  return api.send(syncFiles.actions.upload, { path, mtime }, read(file, sent), size, { ...options, headers })
}

const PIECE = 256 * 1024

async function* read(file: FileHandle, told?: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    // A fresh buffer each time: the one before may still wait to be sent.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE, position)
    if (bytesRead === 0) return
    position += bytesRead
    told?.(bytesRead)
    yield buffer.subarray(0, bytesRead)
  }
}
