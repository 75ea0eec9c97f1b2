import { APICallError } from '@ai-sdk/provider'
import { ModelError, type ModelServer } from '../base/language-model.ts'

/** Most bytes of one answer: a server that never stops is left. */
const MOST_BYTES = 16 * 1_048_576
/** Least bytes of a chunk on the average of a long answer: single bytes cost a step each, here and in whoever reads on. */
const LEAST_CHUNK = 8
const MOST_TINY = 100_000

/** `fetch` that follows no redirect, which would take the key along, and reads only so much. */
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
        if (bytes > MOST_BYTES || (chunks > MOST_TINY && bytes < chunks * LEAST_CHUNK))
          throw new ModelError('broken', 'the answer of the model is too long')
        controller.enqueue(chunk)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(counted, { status, statusText, headers })
}

const MAX_RETRY_AFTER = 3_600

/** A date without its zone, as C's `asctime` writes it: it is in UTC, and `Date.parse` would take it for local time. */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** Milliseconds since the epoch that a date of HTTP names, in any of its three forms (RFC 9110, 5.6.7); NaN for anything else. */
function momentOf(text: string): number {
  if (text.endsWith(' GMT')) return Date.parse(text)
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : NaN
}

/** Seconds to wait as `Retry-After` has them: a number, or the date until which (RFC 9110, 10.2.3). */
function retryAfterOf(text = ''): number | undefined {
  const until = momentOf(text)
  const seconds = Number.isNaN(until) ? Number(text) : (until - Date.now()) / 1_000
  return seconds > 0 ? Math.min(Math.ceil(seconds), MAX_RETRY_AFTER) : undefined
}

/** What an HTTP status of a server of models means. */
export function modelErrorOfStatus(status: number, server: ModelServer, retryAfter?: number): ModelError {
  const { host } = new URL(server.url)
  const said = { status, retryAfter }
  if (status === 401 || status === 403) return new ModelError('refused', `${host} does not accept the key`, said)
  if (status === 404) return new ModelError('missing', `${host} has no such model, or speaks another protocol`, said)
  if (status === 429) return new ModelError('limited', `${host} takes no more requests for the moment`, said)
  // 529 is what Anthropic answers where others say 503.
  if (status === 503 || status === 529) return new ModelError('busy', `${host} has too much to do`, said)
  if (status >= 500) return new ModelError('unreachable', `${host} answers ${status}`, said)
  return new ModelError('broken', `${host} answers ${status}`, said)
}

/** What went wrong between a server of models and us. What it said is not repeated: it may hold what was asked. */
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
