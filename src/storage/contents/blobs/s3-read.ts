import { Readable } from 'node:stream'
import { Busy } from '../../../base/errors.ts'
import type { S3Location } from './s3-location.ts'
import type { S3Requests, S3Stream } from './s3-request.ts'
import { isTransient, ResponseTimeout, S3Failure, fromS3Error } from './s3-errors.ts'

const READ_AHEAD = 512 * 1024
/** Most consecutive interruptions without a byte between them, and most by silence, which takes long. */
const MAX_INTERRUPTIONS = { all: 5, silent: 1 }

export interface ObjectRange {
  sha256: string
  key: string
  range: { start: number; end: number } | undefined
}

/** The same error as for a missing file. */
const missing = ({ sha256 }: ObjectRange, place: S3Location, cause: unknown): Error =>
  Object.assign(new Error(`There is no content ${sha256} in ${place.name}.`, { cause }), { code: 'ENOENT' })

/** The byte range of a response in the object, and the object's size. */
function extentOf({ status, headers }: S3Stream): { first: number; last: number } | undefined {
  if (status === 200) return { first: 0, last: Number(headers.get('content-length')) - 1 }
  const found = /^bytes (\d+)-(\d+)\//.exec(headers.get('content-range') ?? '')
  return found ? { first: Number(found[1]), last: Number(found[2]) } : undefined
}

/** The bytes of an object. After an interruption a new request continues at the same offset. */
async function* bytesOf(
  { open }: S3Requests,
  place: S3Location,
  wanted: ObjectRange,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let at = wanted.range?.start ?? 0
  let last = wanted.range?.end
  let etag: string | null = null

  const ask = async (): Promise<S3Stream | undefined> => {
    // No proxy may compress it. For a range, fetch adds this header itself; twice would invalidate the signature.
    const headers: Record<string, string> =
      at > 0 || last !== undefined ? { range: `bytes=${at}-${last ?? ''}` } : { 'accept-encoding': 'identity' }
    if (etag) headers['if-match'] = etag
    try {
      return await open({ method: 'GET', key: wanted.key, headers, signal })
    } catch (error) {
      if (!(error instanceof S3Failure)) throw error
      if (error.status === 404 && error.code !== 'NoSuchBucket') throw missing(wanted, place, error)
      // A range after the end is empty, as with a file.
      if (error.status === 416 && etag === null) return undefined
      if (error.status === 412)
        throw new Busy('The content was replaced while it was read. Try again.', { cause: error })
      throw error
    }
  }

  for (let breaks = 0; ; breaks += 1) {
    const answer = await ask()
    if (!answer) return
    const extent = extentOf(answer)
    if (extent?.first !== at || Number.isNaN(extent.last)) {
      await answer.leave()
      throw new S3Failure(`The store ${place.name} does not return the requested part of an object.`, 200, '')
    }
    last = Math.min(last ?? Infinity, extent.last)
    etag ??= answer.headers.get('etag')
    let lastError: unknown = new Busy(`The store ${place.name} returned less than it announced. Try again.`)
    try {
      for await (const chunk of answer.chunks()) {
        breaks = 0
        const piece = chunk.subarray(0, last + 1 - at)
        at += piece.length
        if (piece.length > 0) yield piece
      }
    } catch (error) {
      if (!isTransient(error)) throw error
      lastError = error
    }
    if (at > last) return
    const { all, silent } = MAX_INTERRUPTIONS
    if (breaks >= (lastError instanceof ResponseTimeout ? silent : all)) throw fromS3Error(place, lastError)
  }
}

/** A stream of the bytes of an object. Destroying it ends its request. */
export function readObject(requests: S3Requests, place: S3Location, wanted: ObjectRange): Readable {
  const ending = new AbortController()
  const bytes = bytesOf(requests, place, wanted, ending.signal)
  return new Readable({
    highWaterMark: READ_AHEAD,
    read() {
      bytes.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(error as Error),
      )
    },
    destroy(error, done) {
      ending.abort(new Error('Nobody reads this any more.'))
      // If the store was being waited for, the request ends itself; if the reader was, this ends the response.
      void bytes.return(undefined).catch(() => undefined)
      done(error)
    },
  })
}
