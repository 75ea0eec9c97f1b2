import type { AnyAction } from '../contract/contract.ts'
import type { Static, TObject, TSchema } from 'typebox'
import { assertOurs, discard, faultOf, LARGE, ORDINARY, readJson, refuseRedirect } from './answers.ts'
import type { Transport, WireAnswer, WireRequest } from './transport.ts'

export interface CallOptions {
  signal?: AbortSignal
  headers?: Record<string, string>
  /** Milliseconds without a byte before the request is given up; long-polls give their wait and some more. */
  timeout?: number
  /** A POST that does no harm when the server gets it twice: it is sent again when a kept connection turns out dead. */
  repeatable?: boolean
}

export interface Downloaded {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** To be read to its end or left with `break`; otherwise the connection stays taken. */
  body: AsyncIterable<Uint8Array>
}

/** An action with its precise parameters and answer: inferred piece by piece, which the compiler does a hundred times faster than from the whole. */
type Typed<P extends TObject, R extends TSchema> = Omit<AnyAction, 'params' | 'result'> & { params: P; result: R }

/**
 * Speaks the contract to one server with one token. Answers are those of the contract; an error the server names is
 * thrown as the same `Fault` the server threw; a server that cannot be reached, or does not speak the contract, is `Unreachable`.
 */
export interface Api {
  readonly url: string
  /** A JSON action: parameters go into the query of a GET and the body of a POST. */
  call<P extends TObject, R extends TSchema>(
    action: Typed<P, R>,
    params: NoInfer<Static<P>>,
    options?: CallOptions,
  ): Promise<Static<R>>
  /** An action that sends bytes; `size` becomes Content-Length. */
  send<P extends TObject, R extends TSchema>(
    action: Typed<P, R>,
    params: NoInfer<Static<P>>,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    size: number,
    options?: CallOptions,
  ): Promise<Static<R>>
  /** An action that answers bytes, asked like one of JSON: resolves when the headers are there. 304 is an answer, not an error. */
  receive<P extends TObject>(
    action: Typed<P, TSchema>,
    params: NoInfer<Static<P>>,
    options?: CallOptions,
  ): Promise<Downloaded>
  /** Lets go of kept connections. */
  close(): void
}

const PATIENCE = 60_000

export interface ApiParts {
  /** Base URL without a trailing slash; actions' paths are put after it. */
  url: string
  /** Undefined before signing in. It is sent to this URL and to no other. */
  token: string | undefined
  transport: Transport
}

export function makeApi({ url, token, transport }: ApiParts): Api {
  async function ask(
    action: AnyAction,
    query: Record<string, unknown>,
    options: CallOptions,
    sent: { headers?: Record<string, string>; body?: Uint8Array | AsyncIterable<Uint8Array>; size?: number } = {},
  ): Promise<WireAnswer> {
    const { headers, ...body } = sent
    const request: WireRequest = {
      method: action.method,
      url: addressOf(url, action, query),
      headers: {
        accept: action.answers === 'bytes' ? '*/*' : 'application/json',
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...options.headers,
      },
      ...body,
      timeout: options.timeout ?? PATIENCE,
      repeatable: options.repeatable ?? action.method === 'GET',
      signal: options.signal,
    }
    const answer = await transport.request(request)
    refuseRedirect(answer, url)
    if (answer.status >= 400) throw faultOf(answer, await readJson(answer, url, ORDINARY), url)
    return answer
  }

  async function resultOf<R extends TSchema>(action: Typed<TObject, R>, answer: WireAnswer): Promise<Static<R>> {
    const found = await readJson(answer, url, action.answers === 'large' ? LARGE : ORDINARY)
    if (found['ok'] !== true && found['success'] !== true) throw faultOf(answer, found, url)
    assertOurs(action.result, found, answer, url)
    return found as Static<R>
  }

  function askWith(action: AnyAction, params: Record<string, unknown>, options: CallOptions): Promise<WireAnswer> {
    if (action.method === 'GET') return ask(action, params, options)
    const body = new TextEncoder().encode(JSON.stringify(params))
    return ask(action, {}, options, { headers: { 'content-type': 'application/json' }, body, size: body.length })
  }

  return {
    url,
    call: async (action, params, options = {}) => resultOf(action, await askWith(action, params, options)),
    async send(action, params, body, size, options = {}) {
      const sent = { headers: { 'content-type': 'application/octet-stream' }, body, size }
      return resultOf(action, await ask(action, params, options, sent))
    },
    async receive(action, params, options = {}) {
      const answer = await askWith(action, params, options)
      if (answer.status === 304) await discard(answer)
      return answer
    },
    close: () => transport.close(),
  }
}

function addressOf(url: string, { path, name }: AnyAction, query: Record<string, unknown>): string {
  const parts = new URLSearchParams({ action: name })
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parts.set(key, String(value))
  return `${url}${path}?${parts}`
}
