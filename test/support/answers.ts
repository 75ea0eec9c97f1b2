import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CoalescedMessage } from '../../src/http/coalesced-message.ts'
import type { Answer } from './documented.ts'

// Every response of an endpoint is checked against the OpenAPI document: responses of servers in this process when they
// are sent, those of other processes when the request helper receives them.

/** Endpoints of svc. */
const ENDPOINT = /^\/(?:api\/[a-z/-]+|login-2fa)\.php(?:[/?]|$)/

const ports = new Set<number>()
const pending: Answer[] = []
const found: string[] = []
let undocumented: ((answer: Answer) => string[]) | undefined
let loading: Promise<void> | undefined

/** Loads the document with the first response: most test files send no requests. */
const load = (): Promise<void> =>
  (loading ??= import('./documented.ts').then((module) => void (undocumented = module.undocumented)))

function compare(): void {
  if (!undocumented) return
  for (const answer of pending.splice(0)) {
    // An error thrown here would keep the server from ending the response.
    try {
      found.push(...undocumented(answer))
    } catch (error) {
      found.push(`${answer.method} ${answer.url} → ${answer.status}: cannot be compared: ${String(error)}`)
    }
  }
}

function note(answer: Answer): void {
  pending.push(answer)
  void load()
  compare()
}

/** Deviations from the document since the last call. */
export async function undocumentedAnswers(): Promise<string[]> {
  if (pending.length > 0) await load()
  compare()
  return found.splice(0)
}

/**
 * A header of every response of svc. Proxies do not send it, and neither do connections refused before a request is
 * read.
 */
const OF_SVC = 'referrer-policy'

/** Records a response of another process. */
export function noteReceived(
  { port, pathname, search }: URL,
  method: string,
  status: number,
  headers: Headers,
  body: Buffer,
): void {
  if (ports.has(Number(port)) || !ENDPOINT.test(pathname)) return
  const isDecoded = headers.has('content-encoding')
  if (headers.has(OF_SVC) && !isDecoded)
    note({ method, url: pathname + search, status, headers: Object.fromEntries(headers), body })
}

const isJson = (headers: Record<string, unknown>) => String(headers['content-type']).startsWith('application/json')

function listen(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = []
  let given: object = {}
  // The first write of a stream sends the head with the headers set so far.
  const headers = () => ({ ...response.getHeaders(), ...given })
  const { writeHead, write, end } = response
  const keep = (piece: unknown): void => {
    if (!isJson(headers())) return
    if (typeof piece === 'string') pieces.push(Buffer.from(piece))
    else if (piece instanceof Uint8Array) pieces.push(Buffer.from(piece))
  }
  response.writeHead = (...parts: unknown[]) => {
    const last = parts.at(-1)
    if (typeof last === 'object' && last !== null) given = last
    return writeHead.apply(response, parts as never)
  }
  response.write = (...parts: unknown[]) => {
    keep(parts[0])
    return write.apply(response, parts as never)
  }
  response.end = (...parts: unknown[]) => {
    keep(parts[0])
    const { method = '', url = '' } = request
    note({ method, url, status: response.statusCode, headers: headers(), body: Buffer.concat(pieces) })
    return end.apply(response, parts as never)
  }
}

let isListening = false

/** Records responses of all svc servers of this process; called once per test file. */
export function listenToServers(): void {
  if (isListening) return
  isListening = true
  subscribe('http.server.request.start', (message) => {
    const { request, response, server } = message as Record<'request', IncomingMessage> & {
      response: ServerResponse
      server: Server
    }
    // Fake servers of other services run in this process too.
    if (!(request instanceof CoalescedMessage)) return
    ports.add((server.address() as AddressInfo | null)?.port ?? 0)
    if (ENDPOINT.test(request.url ?? '')) listen(request, response)
  })
}
