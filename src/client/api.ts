import type { AnyAction } from '../contract/contract.ts'
import type { Static, TObject, TSchema } from 'typebox'
import { assertOurs, atPace, faultOf, LARGE, ORDINARY, readJson, refuseRedirect } from './http/response.ts'
import type { Transport, WireAnswer, WireRequest } from './http/transport.ts'

export interface CallOptions {
  signal?: AbortSignal
  headers?: Record<string, string>
  /** Idle timeout of a request, ms; long polls add their wait. */
  timeout?: number
  /** Whether a POST is safe to repeat: it is sent again if a kept-alive connection turns out to be closed. */
  repeatable?: boolean
}

export interface Downloaded {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** Must be read to its end or left with `break`; otherwise the connection stays in use. */
  body: AsyncIterable<Uint8Array>
  abandon?: () => void
}

/** An action with its exact types, inferred field by field, which compiles a hundred times faster than the whole. */
type Typed<P extends TObject, R extends TSchema> = Omit<AnyAction, 'params' | 'result'> & { params: P; result: R }

/**
 * Client of one server with one token. Errors of the server are thrown as `Fault`; a server that cannot be reached or
 * breaks the contract is `Unreachable`.
 */
export interface Api {
  readonly url: string
  /** A JSON action: parameters are sent in the query of a GET or the body of a POST. */
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
  /** An action with a byte response; resolves when the headers arrive. 304 is a response, not an error. */
  receive<P extends TObject>(
    action: Typed<P, TSchema>,
    params: NoInfer<Static<P>>,
    options?: CallOptions,
  ): Promise<Downloaded>
  /** Closes idle connections. */
  close(): void
}

const PATIENCE = 60_000

export interface ApiParts {
  /** Base URL without a trailing slash, followed by the path of the action. */
  url: string
  /** Undefined before signing in. Sent only to this URL. */
  token: string | undefined
  transport: Transport
}

/** Connects lazily; neither this nor `close` sends a request. */
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
      url: actionUrl(url, action, query),
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
    await refuseRedirect(answer, url)
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
      if (answer.status === 304) for await (const _ of answer.body) break
      // An event stream may be silent as long as its timeout allows.
      return action.streams ? answer : { ...answer, body: atPace(answer.body, url) }
    },
    close: () => transport.close(),
  }
}

/** The URL of an action below `url`; parameters that are undefined are left out. No parameter replaces the action. */
export function actionUrl(
  url: string,
  { path, name }: Pick<AnyAction, 'path' | 'name'>,
  query: Record<string, unknown>,
): string {
  const parts = new URLSearchParams({ action: name })
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && key !== 'action') parts.set(key, String(value))
  return `${url}${path}?${parts}`
}
