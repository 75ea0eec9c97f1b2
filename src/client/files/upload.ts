import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { filesystem } from '../../contract/filesystem.ts'
import { syncFiles } from '../../contract/sync-files.ts'
import type { Api, CallOptions } from '../api.ts'
import { multipartFile } from '../http/multipart.ts'
import { isShared, nameOf, parentOf } from './remote-files.ts'
import { knownTime } from './modification-time.ts'

/** A local file. It is read twice: for the checksum and for the content. */
export interface Found {
  file: FileHandle
  size: number
  sha256: string
  /** Seconds since the epoch; undefined if the API cannot represent it. */
  mtime: number | undefined
}

/** Size, time and checksum of an open file. */
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
  /** Fail if the file exists. */
  ifAbsent?: boolean
  /** Called with the bytes of each chunk sent. */
  sent?(bytes: number): void
}

export interface Uploaded {
  /** Version of the row; undefined for files of rooms. */
  version?: number
}

/** Uploads a file with its checksum, so that the server stores exactly what was measured. Room files have none. */
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

async function* read(file: FileHandle, onRead?: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    // Allocate each time: the previous buffer may not have been sent yet.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE, position)
    if (bytesRead === 0) return
    position += bytesRead
    onRead?.(bytesRead)
    yield buffer.subarray(0, bytesRead)
  }
}
