import { mkdir, open, stat, unlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { makeKeyedMutex } from '../../../base/keyed-mutex.ts'
import { errorCode, fromSystemError } from '../../../base/errors.ts'
import { makeHasher } from '../../../host/hasher.ts'
import { sweep, receiveBlob } from './receive-blob.ts'
import { OWNER, putBy, type BlobStore } from './blobs.ts'
import { listed } from './s3-listing.ts'
import type { S3Location } from './s3-location.ts'
import { readObject } from './s3-read.ts'
import { factsOf, removeOld, sendPersistently, touchedAt } from './s3-removal.ts'
import { makeRequests, type S3RetryPolicy } from './s3-request.ts'
import { S3Failure } from './s3-errors.ts'
import { send, type UploadSizes } from './s3-upload.ts'

const MIB = 1 << 20

/** Values that tests reduce. */
export interface S3Tuning extends S3RetryPolicy, UploadSizes {
  /** Objects per page of a list. */
  page: number
  /** Most checks of a put for concurrent removals, a second apart at most. */
  checks: number
}

/** A request fails before the proxies in front of this server give it up (120 s), whatever it waits for. */
export const defaults: S3Tuning = {
  tries: 5,
  pause: 200,
  silence: 20_000,
  silentTries: 2,
  completion: 60_000,
  single: 64 * MIB,
  part: 32 * MIB,
  page: 1_000,
  checks: 30,
}

const CONTENT_NAME = /^([0-9a-f]{2})\/([0-9a-f]{2})\/(\1\2[0-9a-f]{60})$/

const keyOf = (sha256: string) => `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`

/** Writes a stream to a new file, or leaves none. False if there is no such content. */
async function saveTo(path: string, source: NodeJS.ReadableStream, signal?: AbortSignal): Promise<boolean> {
  const file = await open(path, 'wx', 0o600)
  try {
    await pipeline(source, file.createWriteStream(), signal ? { signal } : {})
    return true
  } catch (error) {
    await unlink(path)
    if (errorCode(error) === 'ENOENT') return false
    throw fromSystemError(error)
  } finally {
    await file.close()
  }
}

/**
 * A blob store in an S3 bucket with the layout of the store on disk: `ab/cd/<sha256>` after the prefix, and `doomed/` for
 * the markers of `s3-removal.ts`. Other objects are ignored. A content is received into a file of the scratch folder,
 * which need not be durable, because its name is known only after the last byte.
 *
 * Throws `Busy` if the store still fails after some attempts, `DiskFull` if it or the scratch folder is full, and
 * `S3Failure` if it refuses. A store opened for a job ends its requests with it.
 */
export async function openS3(
  place: S3Location,
  scratchFolder: string,
  tuning: Partial<S3Tuning> = {},
  job?: AbortSignal,
): Promise<BlobStore> {
  const tuned = { ...defaults, ...tuning }
  await mkdir(scratchFolder, { recursive: true, mode: 0o700 })
  await sweep(scratchFolder)
  const requests = makeRequests(place, tuned, job)
  const hasher = makeHasher()
  const inTurn = makeKeyedMutex<string>()
  const read: BlobStore['read'] = (sha256, range) => readObject(requests, place, { sha256, key: keyOf(sha256), range })

  const receive: BlobStore['receive'] = (source, max) =>
    receiveBlob(source, max, { folder: scratchFolder, hasher }, (arrived) => {
      const key = keyOf(arrived.sha256)
      const sending = () => send(requests, key, arrived, tuned, hasher)
      return sendPersistently(requests, place, { key, sha256: arrived.sha256, checks: tuned.checks }, sending)
    })

  return {
    receive,
    put: putBy(receive),
    read,
    save: (sha256, file, signal) => saveTo(file, read(sha256), signal),
    activity: () => requests.activity,
    has: async (sha256, signal) => (await factsOf(requests, keyOf(sha256), signal)) !== undefined,
    size: async (sha256) => (await factsOf(requests, keyOf(sha256)))?.size,

    // Only one caller in this process removes; another process may also report that it did.
    remove: (sha256, before) => inTurn(sha256, () => removeOld(requests, keyOf(sha256), sha256, before)),

    async *list() {
      for await (const { key, size, modified, ahead } of listed(requests, place, '', tuned.page)) {
        const sha256 = CONTENT_NAME.exec(key)?.[3]
        if (sha256) yield { sha256, size, touched: touchedAt(modified, ahead) }
      }
    },

    async owner() {
      try {
        return (await requests.ask({ method: 'GET', key: OWNER })).text.trim()
      } catch (error) {
        if (error instanceof S3Failure && error.status === 404) return undefined
        throw error
      }
    },

    async claim(owner) {
      await requests.ask({ method: 'PUT', key: OWNER, body: `${owner}\n` })
    },

    // A list needs more of the address, the keys and their permissions than anything else, and its error names what is
    // missing.
    async check() {
      await stat(scratchFolder)
      for await (const _ of listed(requests, place, '', 1)) break
    },

    async close() {
      requests.close()
      await hasher.close()
    },
  }
}
