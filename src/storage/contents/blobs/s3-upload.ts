import type { FileHandle } from 'node:fs/promises'
import pLimit from 'p-limit'
import type { Hasher } from '../../../host/hasher.ts'
import type { ReceivedBlob } from './receive-blob.ts'
import type { S3Body, S3Requests } from './s3-request.ts'
import { isTransient, ResponseTimeout, S3Failure } from './s3-errors.ts'
import { fieldsOf, partsXml } from './s3-xml.ts'

const MIB = 1 << 20
const PIECE = MIB / 4
const MAX_PARTS = 10_000
/** Parts sent concurrently. */
const WIDTH = 3
/** Most starts of an upload that the store has lost. */
const BEGINNINGS = 3

export interface UploadSizes {
  /** Largest content sent in one request, bytes. */
  single: number
  /** Bytes of a part; more if there would be too many parts. */
  part: number
  /** Silence while the store joins the parts, ms: not every store sends white space meanwhile, as AWS does. */
  completion: number
}

/** Bytes of each part of a content. */
export const partSizeOf = (size: number, part: number): number => Math.max(part, Math.ceil(size / MAX_PARTS))

async function* slice(file: FileHandle, from: number, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size;) {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, size - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from + at)
    if (bytesRead === 0) throw new Error(`The temporary file ends at ${from + at} instead of ${from + size}.`)
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** The checksum of a part, with which the store detects corruption. */
async function checksumOf(file: FileHandle, from: number, size: number, hasher: Hasher): Promise<string> {
  const job = hasher.start(size)
  try {
    const memory = job.memory(Math.min(MIB, size))
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, size - at), from + at)
      if (bytesRead === 0) throw new Error(`The temporary file ends at ${from + at} instead of ${from + size}.`)
      await job.update(memory.subarray(0, bytesRead))
      at += bytesRead
    }
    return await job.digest()
  } finally {
    await job.abandon()
  }
}

const bodyOf = (file: FileHandle, from: number, size: number, sha256: string): S3Body => ({
  size,
  sha256,
  read: () => slice(file, from, size),
})

const isLost = (error: unknown): boolean => error instanceof S3Failure && error.code === 'NoSuchUpload'

/** Fails at the first silence. */
const unlessSilent = (error: unknown): boolean => isTransient(error) && !(error instanceof ResponseTimeout)

interface Upload {
  requests: S3Requests
  key: string
  hasher: Hasher
  partSize: number
  completion: number
}

/** Sends the parts, some concurrently; returns their ETags. If one fails, waits for the others. */
async function sendParts(upload: Upload, id: string, { file, size }: ReceivedBlob): Promise<string[]> {
  const { requests, key, hasher, partSize } = upload
  const failing = new AbortController()
  const limit = pLimit(WIDTH)
  const parts = Array.from({ length: Math.ceil(size / partSize) }, (_, index) =>
    limit(async () => {
      failing.signal.throwIfAborted()
      const from = index * partSize
      const length = Math.min(partSize, size - from)
      const body = bodyOf(file, from, length, await checksumOf(file, from, length, hasher))
      const query = { partNumber: String(index + 1), uploadId: id }
      const { headers } = await requests.ask({ method: 'PUT', key, query, body, signal: failing.signal })
      return headers.get('etag') ?? ''
    }).catch((error: unknown) => {
      failing.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(parts)
  return Promise.all(parts)
}

async function sendInParts(upload: Upload, arrived: ReceivedBlob): Promise<void> {
  const { requests, key, completion } = upload
  const begun = await requests.ask({ method: 'POST', key, query: { uploads: '' } })
  const id = fieldsOf(begun.text, 'InitiateMultipartUploadResult')?.['UploadId']
  if (!id) throw new S3Failure('The store began an upload and did not name it.', 200, '')
  try {
    const etags = await sendParts(upload, id, arrived)
    const body = partsXml(etags)
    await requests.ask({
      method: 'POST',
      key,
      query: { uploadId: id },
      body,
      silence: completion,
      again: unlessSilent,
    })
  } catch (error) {
    // Parts of an unfinished upload would be stored, and billed, forever.
    const ending = { method: 'DELETE', key, query: { uploadId: id }, again: unlessSilent } as const
    if (!isLost(error)) await requests.ask(ending).catch(() => undefined)
    throw error
  }
}

/** In one request or in parts. Some stores use the start of a multipart upload as its modification time. */
export async function send(
  requests: S3Requests,
  key: string,
  arrived: ReceivedBlob,
  { single, part, completion }: UploadSizes,
  hasher: Hasher,
): Promise<void> {
  const { file, size, sha256 } = arrived
  if (size <= single) {
    await requests.ask({ method: 'PUT', key, body: bodyOf(file, 0, size, sha256) })
    return
  }
  const partSize = partSizeOf(size, part)
  for (let round = 1; ; round += 1) {
    try {
      return await sendInParts({ requests, key, hasher, partSize, completion }, arrived)
    } catch (error) {
      // Also after CompleteMultipartUpload was repeated because the first response was lost: then it succeeded.
      if (round >= BEGINNINGS || !isLost(error)) throw error
    }
  }
}
