import type { Transport, WireAnswer, WireRequest } from '../../client/http/transport.ts'
import { Unreachable } from '../../client/errors.ts'

const unreachable = (cause: unknown): Unreachable =>
  new Unreachable('The server cannot be reached.', { cause, outcomeUnknown: true })

async function* readChunks(body: ReadableStream<Uint8Array> | null, onChunk: () => void): AsyncIterable<Uint8Array> {
  const reader = body?.getReader()
  try {
    for (;;) {
      const chunk = await reader?.read().catch((error: unknown) => {
        throw unreachable(error)
      })
      onChunk()
      if (!chunk || chunk.done) return
      yield chunk.value
    }
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}

/** Sends requests with `fetch` and the session cookie; `csrf` returns the token to send. */
export function makeBrowserTransport(csrf: () => string | undefined): Transport {
  async function request({ method, url, headers, body, timeout, signal }: WireRequest): Promise<WireAnswer> {
    const idle = new AbortController()
    let timer = setTimeout(() => idle.abort(), timeout)
    const onChunk = () => {
      clearTimeout(timer)
      timer = setTimeout(() => idle.abort(), timeout)
    }
    const token = csrf()
    try {
      const answer = await fetch(url, {
        method,
        headers: { ...headers, ...(method === 'POST' && token !== undefined ? { 'x-csrf-token': token } : {}) },
        ...(body instanceof Uint8Array ? { body: body as Uint8Array<ArrayBuffer> } : {}),
        // Only a tag makes an address immutable.
        cache: url.includes('&tag=') ? 'default' : 'no-store',
        credentials: 'same-origin',
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, idle.signal]) : idle.signal,
      })
      onChunk()
      const { status, body: stream } = answer
      return {
        status,
        headers: Object.fromEntries(answer.headers),
        body: clearingTimer(readChunks(stream, onChunk), timer),
      }
    } catch (error) {
      clearTimeout(timer)
      if (signal?.aborted) throw signal.reason as Error
      throw unreachable(error)
    }

    function clearingTimer(all: AsyncIterable<Uint8Array>, initialTimer: typeof timer): AsyncIterable<Uint8Array> {
      return {
        async *[Symbol.asyncIterator]() {
          try {
            yield* all
          } finally {
            clearTimeout(initialTimer)
            clearTimeout(timer)
          }
        },
      }
    }
  }

  return { request, close: () => undefined }
}
