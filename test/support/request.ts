import { Agent, request as send } from 'node:http'
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

const agent = new Agent({ keepAlive: true })

/** What `fetch` sends with every request, but for the compression that it asks for. */
const USUAL = { accept: '*/*', 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' }

type Exchanged = Pick<Reply, 'status' | 'headers' | 'bytes'>

/** Like `fetch`, which took more of the processor than what the server did with most requests. */
function exchange(url: URL, { method, headers, body, signal }: Sent & { headers: Record<string, string> }) {
  const isText = typeof body === 'string' && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  const all = { ...USUAL, ...(isText ? { 'content-type': 'text/plain;charset=UTF-8' } : {}), ...headers }
  return new Promise<Exchanged>((resolve, reject) => {
    const sent = send(url, { method, headers: all, agent, ...(signal ? { signal } : {}) }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('error', reject).on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => {
        const given = new Headers()
        for (let at = 0; at < answer.rawHeaders.length; at += 2)
          given.append(answer.rawHeaders[at]!, answer.rawHeaders[at + 1]!)
        resolve({ status: answer.statusCode!, headers: given, bytes: Buffer.concat(pieces) })
      })
    })
    // Bytes: headers would be sent in the encoding of a text.
    sent.on('error', reject).end(typeof body === 'string' ? Buffer.from(body) : body)
  })
}

/** The same for bodies that only `fetch` knows. */
async function fetched(
  url: URL,
  { body, signal, ...sent }: Sent & { headers: Record<string, string> },
): Promise<Exchanged> {
  const isStream = body instanceof ReadableStream
  const more = { ...(isStream ? { duplex: 'half' as const } : {}), ...(signal ? { signal } : {}) }
  const response = await fetch(url, { ...sent, ...more, body: body as NonNullable<RequestInit['body']> })
  const { status, headers } = response
  return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** Sends a request and reads the whole response. */
export async function request(base: string, path: string, sent: Sent = {}): Promise<Reply> {
  const { method = 'GET', query = {}, headers = {}, token, body, ...more } = sent
  const search = searchOf(query)
  const url = new URL(`${base}${path}${search && `?${search}`}`)
  const all = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers }
  const needsFetch = body instanceof FormData || body instanceof ReadableStream
  const answer = await (needsFetch ? fetched : exchange)(url, { method, headers: all, body, ...more })
  noteReceived(url, method, answer.status, answer.headers, answer.bytes)
  return {
    ...answer,
    get json() {
      return JSON.parse(answer.bytes.toString()) as Record<string, unknown>
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
