import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import { errorCode } from '../../base/errors.ts'
import { SECOND } from '../../base/clock.ts'
import { readObject } from '../contents/blobs/s3-read.ts'
import { factsOf } from '../contents/blobs/s3-removal.ts'
import { makeRequests, type S3Body, type S3Requests } from '../contents/blobs/s3-request.ts'
import { listed } from '../contents/blobs/s3-listing.ts'
import { parseS3Location, type S3Credentials, type S3Location, type S3Usage } from '../contents/blobs/s3-location.ts'
import { S3Failure } from '../contents/blobs/s3-errors.ts'
import { fieldsOf, partsXml } from '../contents/blobs/s3-xml.ts'
import { commandLine } from '../../base/shell-words.ts'
import { objectAt } from './repository-path.ts'
import type { Bytes } from './stream-cipher.ts'

// Repositories in S3 buckets. Objects appear whole and durable under their names, so that nothing has to be flushed or renamed.

const MIB = 1 << 20
/** Objects up to this size are sent and read in one request. */
const WHOLE = 8 * MIB
/** The smallest part of a larger one; the limit of S3 is 10,000 parts. */
const PART = 16 * MIB
const MAX_PARTS = 10_000
const PAGE = 1_000
const REQUESTS = { tries: 5, pause: 200, silence: 20 * SECOND, silentTries: 3 }
/** Objects removed concurrently. */
const WIDTH = 16

/** The key of a bucket may add objects and not remove them. */
export class RemovalDenied extends Error {
  override name = 'RemovalDenied'
  readonly exitCode = 4
  constructor(name: string, address: string, cause: unknown) {
    super(
      `The key may not remove anything from ${name}. Let a rule of the bucket expire old versions, or use a key that may, ` +
        `on a machine that nobody who attacks the server reaches: ${commandLine({}, ['backup', 'prune', '--from', address])}`,
      { cause },
    )
  }
}

interface Bucket {
  location: S3Location
  requests: S3Requests
}

interface OpenBucket extends Bucket {
  owners: number
}

const buckets = new Map<string, OpenBucket>()

/**
 * Makes a bucket usable by its address until the returned function is called by every owner. `job` ends its requests; that of the first owner
 * counts. Throws `BadS3Location`.
 */
export function openBucket(
  address: string,
  credentials: S3Credentials,
  { job, ...usage }: S3Usage & { job?: AbortSignal | undefined } = {},
): () => void {
  const location = parseS3Location(address, credentials, usage)
  const known = buckets.get(address)
  const opened =
    known && isDeepStrictEqual(known.location, location)
      ? known
      : { location, requests: makeRequests(location, REQUESTS, job), owners: 0 }
  buckets.set(address, opened)
  opened.owners += 1
  let isOpen = true
  return () => {
    if (isOpen) opened.owners -= 1
    isOpen = false
    if (opened.owners > 0) return
    opened.requests.close()
    if (buckets.get(address) === opened) buckets.delete(address)
  }
}

function bucketOf(path: string): Bucket & { address: string; name: string } {
  const { address, name } = objectAt(path)
  const bucket = buckets.get(address)
  if (!bucket) throw new Error(`The bucket ${address} was not opened.`)
  return { ...bucket, address, name }
}

const notFound = (path: string, cause?: unknown): Error =>
  Object.assign(new Error(`There is no ${path}.`, { cause }), { code: 'ENOENT', path })

/** Opens an object for random reads, as `openBytes` opens a file. Throws ENOENT. */
export async function openObject(path: string): Promise<Bytes & { close(): Promise<void> }> {
  const { requests, location, name } = bucketOf(path)
  const answer = await requests
    .open({ method: 'GET', key: name, headers: { 'accept-encoding': 'identity' } })
    .catch((error: unknown) => {
      if (error instanceof S3Failure && error.status === 404 && error.code !== 'NoSuchBucket')
        throw notFound(path, error)
      throw error
    })
  const size = Number(answer.headers.get('content-length') ?? NaN)
  const close = () => Promise.resolve()
  if (size <= WHOLE) {
    const whole = await buffer(answer.chunks()).catch(() => undefined)
    if (whole?.length === size)
      return {
        size,
        close,
        async *read(start, end) {
          yield await Promise.resolve(whole.subarray(start, end))
        },
      }
  } else await answer.leave()
  return {
    size,
    close,
    read: (start, end) => readObject(requests, location, { sha256: name, key: name, range: { start, end: end - 1 } }),
  }
}

const memory = (data: Buffer): S3Body => ({
  size: data.length,
  sha256: createHash('sha256').update(data).digest('hex'),
  async *read() {
    yield await Promise.resolve(data)
  },
})

/** Sends a large object in parts, from pieces of at least a part. */
async function sendInParts(
  { requests, name }: Bucket & { name: string },
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const begun = await requests.ask({ method: 'POST', key: name, query: { uploads: '' } })
  const uploadId = fieldsOf(begun.text, 'InitiateMultipartUploadResult')?.['UploadId'] ?? ''
  try {
    const etags: string[] = []
    for await (const piece of pieces) {
      const query = { partNumber: String(etags.length + 1), uploadId }
      const { headers } = await requests.ask({ method: 'PUT', key: name, query, body: memory(piece) })
      etags.push(headers.get('etag') ?? '')
    }
    await requests.ask({ method: 'POST', key: name, query: { uploadId }, body: partsXml(etags) })
  } catch (error) {
    await requests.ask({ method: 'DELETE', key: name, query: { uploadId } }).catch(() => undefined)
    throw error
  }
}

async function* inPieces(content: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const part of content) {
    parts.push(part)
    size += part.length
    if (size < length) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts)
}

/** Stores an object of a known size, in place of one that has its name. If `content` fails, nothing changes. */
export async function putObject(path: string, content: AsyncIterable<Uint8Array>, size: number): Promise<void> {
  const bucket = bucketOf(path)
  if (size > PART) return sendInParts(bucket, inPieces(content, Math.max(PART, Math.ceil(size / MAX_PARTS))))
  await bucket.requests.ask({ method: 'PUT', key: bucket.name, body: memory(await buffer(content)) })
}

/** Stores a small object that does not exist yet. Throws EEXIST. */
export async function putNewObject(path: string, content: Uint8Array): Promise<void> {
  const { requests, name } = bucketOf(path)
  const exists = () => Object.assign(new Error(`${path} exists already.`), { code: 'EEXIST', path })
  if ((await sizeOfObject(path)) !== undefined) throw exists()
  const request = {
    method: 'PUT',
    key: name,
    body: memory(Buffer.from(content)),
    headers: { 'if-none-match': '*' },
  } as const
  try {
    await requests.ask(request)
  } catch (error) {
    if (!(error instanceof S3Failure)) throw error
    // Stores that do not know the condition have been asked before.
    if (error.status === 501) await requests.ask({ ...request, headers: {} })
    else if (error.status !== 412) throw error
    // It may be this one, if the response to an earlier attempt was lost.
    else if (!(await contentOf(path))?.equals(content)) throw exists()
  }
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    const file = await openObject(path)
    return await buffer(file.read(0, file.size))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Bytes of an object; undefined if it does not exist. */
export async function sizeOfObject(path: string): Promise<number | undefined> {
  const { requests, name } = bucketOf(path)
  return (await factsOf(requests, name))?.size
}

export interface ObjectFacts {
  /** Name after `prefix`. */
  name: string
  size: number
  /** Time since it was stored, ms, by the clock of the store. */
  age: number
}

/** The objects below a path of `within`, or all of a bucket. */
export async function* objectsBelow(path: string): AsyncGenerator<ObjectFacts> {
  const { requests, location, name } = bucketOf(path)
  const prefix = name === '' ? '' : `${name}/`
  for await (const { key, size, modified, storeTime } of listed(requests, location, prefix, PAGE))
    yield { name: key.slice(prefix.length), size, age: Math.max(0, storeTime - modified - SECOND) }
}

/** The names directly in a folder of a bucket. */
export async function namesInBucket(path: string): Promise<string[]> {
  const names = new Set<string>()
  for await (const { name } of objectsBelow(path)) names.add(name.split('/', 1)[0]!)
  return [...names]
}

/** Removes objects. Throws `RemovalDenied`. */
export async function removeObjects(paths: readonly string[]): Promise<void> {
  const limit = pLimit(WIDTH)
  let denied: Error | undefined
  const remove = async (path: string): Promise<void> => {
    if (denied) return
    const { requests, location, address, name } = bucketOf(path)
    await requests.ask({ method: 'DELETE', key: name }).catch((error: unknown) => {
      const isDenied = error instanceof S3Failure && (error.status === 403 || error.status === 405)
      if (!isDenied) throw error
      denied = new RemovalDenied(location.name, address, error)
    })
  }
  await Promise.all(paths.map((path) => limit(remove, path)))
  if (denied) throw denied
}

export async function removeBelow(path: string): Promise<void> {
  const paths: string[] = []
  for await (const { name } of objectsBelow(path)) paths.push(`${path}/${name}`)
  await removeObjects(paths)
}

/** Stores a small object, in place of one that has its name. */
export async function putBytes(path: string, data: Uint8Array): Promise<void> {
  const { requests, name } = bucketOf(path)
  await requests.ask({ method: 'PUT', key: name, body: memory(Buffer.from(data)) })
}
