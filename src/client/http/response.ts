import type { TSchema } from 'typebox'
import { ByteBuffer } from '../../base/byte-buffer.ts'
import { monotonicMs } from '../../base/monotonic.ts'
import { errors, Fault, type ErrorCode, type FaultExtra } from '../../contract/errors.ts'
import { Unreachable } from '../errors.ts'
import type { WireAnswer } from './transport.ts'

const MIB = 1_048_576

/** Largest JSON response, bytes: an ordinary one, and a complete listing of an account. */
export const ORDINARY = 16 * MIB
export const LARGE = 384 * MIB

/** Bytes decoded at a time. */
const DECODED = 65_536

/** Longest error text accepted from a server, UTF-16 code units. */
const LONGEST_TEXT = 1_000
/** Longest wait that a server may request, seconds. */
const LONGEST_WAIT = 86_400

type Json = Record<string, unknown>

/** Reads a JSON object; anything else is `Unreachable`, because svc does not send it. */
export async function readJson(answer: WireAnswer, from: string, limit = LARGE): Promise<Json> {
  const type = answer.headers['content-type'] ?? 'no content type'
  if (!/^application\/json\b/i.test(type)) {
    await discard(answer)
    throw foreignResponse(from, answer.status, type.slice(0, 100))
  }
  const text = await readText(answer, from, limit)
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw foreignResponse(from, answer.status, 'no JSON object')
  }
  return value as Json
}

/** Time to wait for a body in all, ms, and how much of it each byte gives back: 8 KiB in 10 seconds is the lowest rate. */
const PATIENCE = 60_000
const MS_PER_BYTE = 10_000 / 8_192

/** Fails when a body arrives too slowly: a server that sends a byte now and then is never silent. */
export async function* atPace(body: AsyncIterable<Uint8Array>, from: string): AsyncGenerator<Uint8Array> {
  let left = PATIENCE
  let since = monotonicMs()
  for await (const chunk of body) {
    left = Math.min(PATIENCE, left + chunk.length * MS_PER_BYTE - (monotonicMs() - since))
    if (left < 0)
      throw new Unreachable(`${from} answers too slowly: check the network, and try again later.`, {
        outcomeUnknown: true,
      })
    yield chunk
    // Time that the consumer takes does not count.
    since = monotonicMs()
  }
}

/** Discards a response that did not come from svc, with its connection: that of a captive portal would be used again. */
export async function discard(answer: WireAnswer): Promise<void> {
  if (answer.abandon) return answer.abandon()
  for await (const _ of answer.body) break
}

/** Redirects are not followed: the token belongs to one origin, and a wrong URL should be corrected. */
export async function refuseRedirect(answer: WireAnswer, from: string): Promise<void> {
  if (answer.status < 300 || answer.status > 399 || answer.status === 304) return
  await discard(answer)
  const target = answer.headers['location'] ?? ''
  if (target === '' || !URL.canParse(target, from))
    throw new Unreachable(`${from} redirects to nowhere: check the address.`)
  const { origin, pathname } = new URL(target, from)
  // The address of a server has no action in it.
  const place = `${origin}${pathname.replace(/\/(?:api\/.*)?$/, '')}`.slice(0, 200)
  throw new Unreachable(
    `${from} redirects to ${place}: if that is your server, sign in with its own address. Some networks do this until you sign in to them in a browser.`,
  )
}

const ENVELOPE = new Set(['ok', 'success'])

/**
 * Rejects a success without any field of the result: other programs answer `{"ok": true}` too. Some fields may be
 * missing from older servers. Actions of the desktop have no schemas; their responses come from the server of the page.
 */
export function assertOurs(result: TSchema | undefined, found: Json, answer: WireAnswer, from: string): void {
  const { required = [] } = (result ?? {}) as { required?: readonly string[] }
  const fields = required.filter((name) => !ENVELOPE.has(name))
  if (fields.length > 0 && !fields.some((name) => Object.hasOwn(found, name)))
    throw foreignResponse(from, answer.status, 'JSON of another program')
}

/** The `Fault` in a response; `Unreachable` if it cannot come from svc. */
export function faultOf(answer: WireAnswer, document: Json, from: string): Error {
  const { ok, success, error, code, ...fields } = document
  const isFailure = ok === false || success === false || (answer.status >= 400 && typeof code === 'string')
  if (!isFailure || typeof error !== 'string') return foreignResponse(from, answer.status, 'JSON of another program')
  const known = typeof code === 'string' && Object.hasOwn(errors, code)
  const retryAfter = secondsToWait(answer.headers)
  const extra: FaultExtra = {
    ...(error === '' ? {} : { text: textOf(error, fields) }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    fields: known ? fields : { ...fields, code },
  }
  return new Fault(known ? (code as ErrorCode) : nearest(answer.status), extra)
}

/** The server's text, with invalid fields it does not mention and, for server logs, the request ID. */
function textOf(error: string, { details, request_id }: Json): string {
  const problems = Array.isArray(details)
    ? details.flatMap((detail: Json | null) => {
        const message = String(detail?.['message'])
        return error.includes(message) ? [] : [`${String(detail?.['path'])}: ${message}.`]
      })
    : []
  const request = typeof request_id === 'string' ? ` (request ${request_id.slice(0, 100)})` : ''
  return [error, ...problems].join(' ').slice(0, LONGEST_TEXT) + request
}

const byStatus: Record<number, ErrorCode> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  410: 'cursor_expired',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  422: 'checksum_mismatch',
  429: 'rate_limited',
  501: 'unknown_action',
  502: 'busy',
  503: 'busy',
  504: 'busy',
  507: 'disk_full',
}

/** A newer server can send unknown error codes: use the status. */
const nearest = (status: number): ErrorCode => byStatus[status] ?? (status >= 500 ? 'internal' : 'bad_request')

/** `Retry-After` in whole seconds (RFC 9110, 10.2.3); a date is compared with the server's clock. */
function secondsToWait(headers: Record<string, string>): number | undefined {
  const text = headers['retry-after']?.trim() ?? ''
  const until = text.endsWith(' GMT') ? Date.parse(text) : NaN
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((until - Date.parse(headers['date'] ?? '')) / 1_000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), LONGEST_WAIT)
}

async function readText(answer: WireAnswer, from: string, limit: number): Promise<string> {
  const decoder = new TextDecoder()
  const body = new ByteBuffer()
  let text = ''
  let length = 0
  const decode = () => body.take().forEach((chunk) => (text += decoder.decode(chunk, { stream: true })))
  for await (const chunk of atPace(answer.body, from)) {
    length += chunk.length
    if (length > limit)
      throw new Unreachable(`${from} answered more than ${limit / MIB} MB, which is not a valid answer.`)
    body.add(chunk)
    if (body.size < DECODED) continue
    const isStart = text === ''
    decode()
    // svc begins with one of these; what another program sends need not be read to its end.
    if (isStart && !/"(?:ok|success)"/.test(text)) throw foreignResponse(from, answer.status, 'JSON of another program')
  }
  decode()
  return text + decoder.decode()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports it with the URL.
    return undefined
  }
}

/** A response of another program, mostly a proxy or another kind of server. */
export function foreignResponse(from: string, status: number, what: string): Error {
  if ([502, 503, 504].includes(status)) {
    const sentence = `The server behind ${from} is not available right now (${status}): try again later.`
    return new Unreachable(sentence, { outcomeUnknown: true, status })
  }
  if (status === 413) {
    return new Fault('too_large', {
      text: `A proxy in front of ${from} refuses content of this size: raise its limit (nginx: client_max_body_size).`,
    })
  }
  return new Unreachable(`${from} is not an svc server (it answered ${status}, ${what}): check the address.`, {
    status,
  })
}
