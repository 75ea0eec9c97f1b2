import type { Transport, WireAnswer, WireRequest } from '../../client/transport.ts'
import { Unreachable } from '../../client/errors.ts'

const unreachable = (cause: unknown): Unreachable =>
  new Unreachable('The server cannot be reached.', { cause, outcomeUnknown: true })

async function* pieces(body: ReadableStream<Uint8Array> | null, alive: () => void): AsyncIterable<Uint8Array> {
  const reader = body?.getReader()
  try {
    for (;;) {
      const piece = await reader?.read().catch((error: unknown) => {
        throw unreachable(error)
      })
      alive()
      if (!piece || piece.done) return
      yield piece.value
    }
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}

/** Carries requests with the browser's fetch, in whose session cookie they travel; `csrf` answers the token that goes with it. */
export function makeBrowserTransport(csrf: () => string | undefined): Transport {
  async function request({ method, url, headers, body, timeout, signal }: WireRequest): Promise<WireAnswer> {
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), timeout)
    const alive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), timeout)
    }
    const token = csrf()
    try {
      const answer = await fetch(url, {
        method,
        headers: { ...headers, ...(method === 'POST' && token !== undefined ? { 'x-csrf-token': token } : {}) },
        ...(body instanceof Uint8Array ? { body: body as Uint8Array<ArrayBuffer> } : {}),
        cache: 'no-store',
        credentials: 'same-origin',
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
      })
      alive()
      const { status, body: stream } = answer
      return { status, headers: Object.fromEntries(answer.headers), body: endingWith(pieces(stream, alive), timer) }
    } catch (error) {
      clearTimeout(timer)
      if (signal?.aborted) throw signal.reason as Error
      throw unreachable(error)
    }

    function endingWith(all: AsyncIterable<Uint8Array>, first: typeof timer): AsyncIterable<Uint8Array> {
      return {
        async *[Symbol.asyncIterator]() {
          try {
            yield* all
          } finally {
            clearTimeout(first)
            clearTimeout(timer)
          }
        },
      }
    }
  }

  return { request, close: () => undefined }
}
