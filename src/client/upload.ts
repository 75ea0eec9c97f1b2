import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { filesystem } from '../contract/filesystem.ts'
import { syncFiles } from '../contract/sync-files.ts'
import type { Api, CallOptions } from './api.ts'
import { multipartFile } from './multipart.ts'
import { isShared, nameOf, parentOf } from './remote-files.ts'
import { knownTime } from './times.ts'

/** A local file as it was found: read twice, once for the checksum and once for the bytes. */
export interface Found {
  file: FileHandle
  size: number
  sha256: string
  /** Seconds since the epoch; undefined when the file has a time that the wire cannot say. */
  mtime: number | undefined
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
  return { file, size, sha256: hash.digest('hex'), mtime: knownTime(mtimeMs / 1_000) }
}

export interface UploadOptions extends CallOptions {
  /** Only where there is no such file yet. */
  ifAbsent?: boolean
  /** Told the bytes of each piece that is handed over. */
  sent?(bytes: number): void
}

export interface Uploaded {
  /** Counts the changes of the row; a room's file has none. */
  version?: number
}

/**
 * Sends a file with its checksum, so that the server stores exactly what was measured or nothing. A room's file goes without
 * one: its length has to be the one that was measured.
 */
export async function upload(
  api: Api,
  path: string,
  { file, size, sha256, mtime }: Found,
  { ifAbsent = false, sent, ...options }: UploadOptions = {},
): Promise<Uploaded> {
  if (isShared(path)) {
    const sending = multipartFile(nameOf(path), read(file, sent), size)
    const params = { path: parentOf(path), ...(ifAbsent && { if_absent: true }) }
    const { headers } = sending
    await api.send(filesystem.actions.upload, params, sending.body, sending.size, { ...options, headers })
    return {}
  }
  const headers = { 'x-file-sha256': sha256, ...(ifAbsent ? { 'if-none-match': '*' } : {}) }
  return api.send(
    syncFiles.actions.upload,
    { path, ...(mtime === undefined ? {} : { mtime }) },
    read(file, sent),
    size,
    { ...options, headers },
  )
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
