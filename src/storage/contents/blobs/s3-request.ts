import { setMaxListeners } from 'node:events'
import { AwsV4Signer } from 'aws4fetch'
import { ByteBuffer } from '../../../base/byte-buffer.ts'
import { withRetry } from '../../../base/retry.ts'
import type { S3Location } from './s3-location.ts'
import { ConnectionLost, failureIn, isTransient, ResponseTimeout, fromS3Error, S3Failure } from './s3-errors.ts'
import { fieldsOf } from './s3-xml.ts'

/** The request body; read again for every attempt. */
export interface S3Body {
  size: number
  sha256: string
  read(): AsyncIterable<Uint8Array>
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Name of the object after the prefix; without one the request is for the bucket. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: S3Body | string
  /** How long the request is valid, from a time of the store's clock in epoch ms: the store rejects it later. */
  within?: { from: number; seconds: number }
  /** Which failures to retry; all transient ones by default. */
  again?: (error: unknown) => boolean
  signal?: AbortSignal
  /** Instead of the silence of the policy, ms. */
  silence?: number
}

interface ResponseHead {
  headers: Headers
  /** Upper bound of how far this machine's clock was ahead of the store's, ms. */
  ahead: number
  /** The store's clock, epoch ms; cut to seconds. */
  storeTime: number
}

/** A response whose body the caller reads to its end, or leaves the loop. */
export interface S3Stream extends ResponseHead {
  status: number
  chunks(): AsyncGenerator<Uint8Array>
  /** Discards the body. */
  leave(): Promise<void>
}

export interface S3Answer extends ResponseHead {
  text: string
}

export interface S3RetryPolicy {
  /** Most attempts. */
  tries: number
  /** Delay before the second attempt, ms; doubles with each further one, with 50 % jitter. */
  pause: number
  /** Most attempts while the store is silent, because each of them takes long; as many as `tries` by default. */
  silentTries?: number
  /** Time without a byte in either direction after which a connection counts as broken, ms. */
  silence: number
}

export interface S3Requests {
  /** Sends a request and reads the whole response, with retries of transient errors. */
  ask(request: S3Request): Promise<S3Answer>
  /** Like `ask`, for a long response. */
  open(request: S3Request): Promise<S3Stream>
  /** Requests, and how many of them failed. */
  activity: { requests: number; failures: number }
  close(): void
}

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** Responses read as a whole are lists or errors, which are never longer. */
const LONGEST = 16 * 1_048_576

/** Signs a request. Object keys and query values contain only characters with a single encoding. */
async function signed(
  place: S3Location,
  request: S3Request,
  body: S3Body | undefined,
): Promise<{ url: URL; headers: Headers }> {
  const url = new URL(request.key === undefined ? place.base : `${place.base}${place.prefix}${request.key}`)
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value)
  if (request.within) url.searchParams.set('X-Amz-Expires', String(request.within.seconds))
  const { sessionToken, ...keys } = place.credentials
  const signer = new AwsV4Signer({
    ...keys,
    ...(sessionToken && { sessionToken }),
    method: request.method,
    url: url.href,
    headers: { ...request.headers, ...(request.within ? {} : { 'x-amz-content-sha256': body?.sha256 ?? EMPTY }) },
    service: 's3',
    region: place.region,
    ...(request.within && {
      signQuery: true,
      datetime: new Date(request.within.from).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    }),
  })
  return signer.sign()
}

function watch(silence: number, signals: (AbortSignal | undefined)[]) {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const breakOff = ({ target }: Event) => controller.abort((target as AbortSignal).reason)
  for (const signal of signals) {
    if (signal?.aborted) controller.abort(signal.reason)
    signal?.addEventListener('abort', breakOff)
  }
  return {
    signal: controller.signal,
    /** From now on the store is waited for. */
    wait() {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(new ResponseTimeout('The store is silent.')), silence)
    },
    /** Now the store waits for this process. */
    rest: () => clearTimeout(timer),
    end() {
      clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener('abort', breakOff)
    },
  }
}

type Watch = ReturnType<typeof watch>

const textBody = (text: string, sha256: string): S3Body => ({
  size: Buffer.byteLength(text),
  sha256,
  async *read() {
    yield await Promise.resolve(Buffer.from(text))
  },
})

/** The bytes of a request body. Keeps read errors, which are not the store's fault. */
function outgoing(body: S3Body, watching: Watch) {
  const way: { error?: Error; bytes: AsyncGenerator<Uint8Array> } = { bytes: pieces() }
  async function* pieces() {
    try {
      for await (const piece of body.read()) {
        watching.wait()
        yield piece
      }
    } catch (error) {
      way.error = error as Error
      throw error
    }
  }
  return way
}

/** The bytes of a response. The time limit runs only while they are waited for. */
async function* incoming(response: Response, watching: Watch): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  try {
    for (;;) {
      watching.wait()
      const next = await reader?.read().catch((error: unknown) => {
        watching.signal.throwIfAborted()
        throw new ConnectionLost('The answer broke off.', { cause: error })
      })
      watching.rest()
      if (!next || next.done) return
      yield next.value as Uint8Array
    }
  } finally {
    watching.end()
    await reader?.cancel().catch(() => undefined)
  }
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const body = new ByteBuffer()
  for await (const chunk of chunks) {
    body.add(chunk)
    if (body.size > LONGEST) throw new ConnectionLost('The answer is longer than any.')
  }
  return Buffer.concat(body.take()).toString('utf8')
}

/** Signed requests to one store, with retries and a time limit for silence. */
export function makeRequests(place: S3Location, policy: S3RetryPolicy, job?: AbortSignal): S3Requests {
  const closing = new AbortController()
  job?.addEventListener('abort', () => closing.abort(job.reason), { once: true })
  // One listener per request.
  setMaxListeners(0, closing.signal)

  async function once(request: S3Request): Promise<S3Stream> {
    const body = typeof request.body === 'string' ? textBody(request.body, await sha256Of(request.body)) : request.body
    const { url, headers } = await signed(place, request, body)
    const watching = watch(request.silence ?? policy.silence, [closing.signal, request.signal])
    const way = body && body.size > 0 ? outgoing(body, watching) : undefined
    watching.wait()
    try {
      const response = await fetch(url, {
        method: request.method,
        headers: { ...Object.fromEntries(headers), ...(way && { 'content-length': String(body!.size) }) },
        signal: watching.signal,
        redirect: 'manual',
        ...(way && { body: way.bytes, duplex: 'half' }),
      })
      watching.rest()
      const received = Date.now()
      const said = Date.parse(response.headers.get('date') ?? '')
      const storeTime = Number.isNaN(said) ? received : said
      const head = { status: response.status, headers: response.headers, storeTime, ahead: received - storeTime }
      const chunks = () => incoming(response, watching)
      if (!response.ok) throw failureIn(place, response, fieldsOf(await whole(chunks()), 'Error') ?? {})
      const leave = async () => {
        watching.end()
        await response.body?.cancel()
      }
      return { ...head, chunks, leave }
    } catch (error) {
      watching.end()
      if (way?.error) throw way.error
      watching.signal.throwIfAborted()
      throw error instanceof TypeError ? new ConnectionLost('The request broke off.', { cause: error }) : error
    }
  }

  const activity = { requests: 0, failures: 0 }
  async function counted<T>(work: () => Promise<T>): Promise<T> {
    activity.requests += 1
    try {
      return await work()
    } catch (error) {
      // Asking for an object that is not there is no failure.
      if (!(error instanceof S3Failure && error.status === 404)) activity.failures += 1
      throw error
    }
  }

  const retrying = <T>({ again = isTransient }: S3Request, work: () => Promise<T>): Promise<T> => {
    let silent = 0
    const isWorthwhile = (error: unknown): boolean =>
      !(error instanceof ResponseTimeout) || ++silent < (policy.silentTries ?? policy.tries)
    return withRetry(() => counted(work), {
      attempts: policy.tries,
      first: policy.pause,
      jitter: 0.5,
      isTemporary: (error) => isTransient(error) && again(error) && isWorthwhile(error),
      signal: closing.signal,
    }).catch((error: unknown) => Promise.reject(fromS3Error(place, error) as Error))
  }

  return {
    ask: (request) =>
      retrying(request, async () => {
        const { headers, status, storeTime, ahead, chunks } = await once(request)
        const text = await whole(chunks())
        // The response to CompleteMultipartUpload starts before its outcome is known: status 200 can contain an error.
        const failure = fieldsOf(text, 'Error')
        if (failure) throw failureIn(place, { status, headers }, failure)
        return { headers, storeTime, ahead, text }
      }),
    open: (request) => retrying(request, () => once(request)),
    activity,
    close: () => closing.abort(new Error('The store is closed.')),
  }
}

async function sha256Of(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex')
}
