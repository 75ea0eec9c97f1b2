import type { AnyAction } from '../../src/contract/contract.ts'
import { noteReceived } from './answers.ts'

/** A complete response. */
export interface Reply {
  status: number
  headers: Headers
  bytes: Buffer
  /** The body as a JSON object. */
  readonly json: Record<string, unknown>
}

export interface Sent {
  method?: string
  query?: Record<string, unknown> | URLSearchParams
  headers?: Record<string, string>
  /** Device token for the Authorization header. */
  token?: string | undefined
  /** Sent unchanged; a stream uses chunked transfer coding. */
  body?: string | Uint8Array | FormData | ReadableStream | undefined
  signal?: AbortSignal
}

const searchOf = (query: NonNullable<Sent['query']>): string =>
  query instanceof URLSearchParams
    ? query.toString()
    : new URLSearchParams(
        Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
      ).toString()

/** Sends a request and reads the whole response. */
export async function request(base: string, path: string, sent: Sent = {}): Promise<Reply> {
  const { method = 'GET', query = {}, headers = {}, token, body, signal } = sent
  const search = searchOf(query)
  const response = await fetch(`${base}${path}${search && `?${search}`}`, {
    method,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    ...(signal ? { signal } : {}),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  noteReceived(response.url, method, response.status, response.headers, bytes)
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    get json() {
      return JSON.parse(bytes.toString()) as Record<string, unknown>
    },
  }
}

/** The request of an action, with its parameters in the query or the body. */
export function requestOf(
  action: AnyAction,
  params: object,
  more: Omit<Sent, 'query'> = {},
): [path: string, sent: Sent] {
  const { path, method, name, sends } = action
  if (method === 'GET' || sends === 'bytes') return [path, { method, query: { action: name, ...params }, ...more }]
  const headers = { 'content-type': 'application/json', ...more.headers }
  return [path, { method, query: { action: name }, body: JSON.stringify(params), ...more, headers }]
}
