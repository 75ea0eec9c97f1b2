import { APICallError } from '@ai-sdk/provider'
import { ModelError, type ModelServer } from '../base/language-model.ts'

/** Most bytes of a response: an endless one is aborted. */
const MAX_BYTES = 16 * 1_048_576
/** Least average bytes per chunk of a long response: every chunk has a cost, even with one byte. */
const LEAST_CHUNK = 8
const MAX_TINY = 100_000

/** `fetch` without redirects, which would receive the key, and with a limit of bytes. */
export const guardedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'error' })
  if (!response.body) return response
  let bytes = 0
  let chunks = 0
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        chunks += 1
        if (bytes > MAX_BYTES || (chunks > MAX_TINY && bytes < chunks * LEAST_CHUNK))
          throw new ModelError('broken', 'the answer of the model is too long')
        controller.enqueue(chunk)
      },
    }),
    // The signal of a request has no effect any more once its own response is garbage (undici, `acRef` in lib/web/fetch/request.js).
    init?.signal ? { signal: init.signal } : {},
  )
  const { status, statusText, headers } = response
  return new Response(counted, { status, statusText, headers })
}

const MAX_RETRY_AFTER = 3_600

/** A date in `asctime` format: it is UTC, but `Date.parse` assumes local time. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** Parses an HTTP date in any of its three formats (RFC 9110, 5.6.7); epoch ms, NaN if invalid. */
function momentOf(text: string): number {
  if (text.endsWith(' GMT')) return Date.parse(text)
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : NaN
}

/** Seconds in `Retry-After`: a number or a date (RFC 9110, 10.2.3). */
function retryAfterOf(text = ''): number | undefined {
  const until = momentOf(text)
  const seconds = Number.isNaN(until) ? Number(text) : (until - Date.now()) / 1_000
  return seconds > 0 ? Math.min(Math.ceil(seconds), MAX_RETRY_AFTER) : undefined
}

/** The meaning of a status of 400 or more. `retryAfter` is in seconds. */
export function modelErrorOfStatus(status: number, server: ModelServer, retryAfter?: number): ModelError {
  const { host } = new URL(server.url)
  const said = { status, retryAfter }
  if (status === 401 || status === 403) return new ModelError('refused', `${host} does not accept the key`, said)
  if (status === 404) return new ModelError('missing', `${host} has no such model, or speaks another protocol`, said)
  if (status === 429) return new ModelError('limited', `${host} takes no more requests for the moment`, said)
  // Anthropic uses 529 as others use 503.
  if (status === 503 || status === 529) return new ModelError('busy', `${host} has too much to do`, said)
  if (status >= 500) return new ModelError('unreachable', `${host} answers ${status}`, said)
  return new ModelError('broken', `${host} answers ${status}`, said)
}

/** Converts an error of a request to a model server. The server's text is not repeated: it may contain the question. */
export function toModelError(error: unknown, server: ModelServer): ModelError {
  if (error instanceof ModelError) return error
  if (error instanceof Error && error.cause instanceof ModelError) return error.cause
  const { host } = new URL(server.url)
  if (APICallError.isInstance(error)) {
    const { statusCode } = error
    if (statusCode !== undefined && statusCode >= 300)
      return modelErrorOfStatus(statusCode, server, retryAfterOf(error.responseHeaders?.['retry-after']))
    if (statusCode === undefined) return new ModelError('unreachable', `${host} does not answer`, { cause: error })
  }
  if (error instanceof TypeError && error.message === 'fetch failed')
    return new ModelError('unreachable', `${host} does not answer`, { cause: error })
  return new ModelError('broken', `what ${host} answers cannot be understood`, { cause: error })
}
