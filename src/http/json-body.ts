import { once } from 'node:events'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { makeKeyedMutex } from '../base/keyed-mutex.ts'
import { fault } from '../contract/errors.ts'
import { JSON_DEPTH } from '../contract/limits.ts'
import { makeQueuePerKey } from '../domain/accounts/job-queue.ts'
import { sendContinue } from './expect-continue.ts'
import { findExcess } from './json-limits.ts'

/** Maximum size in bytes of a JSON body and maximum number of values in it. */
export interface JsonLimits {
  bytes: number
  values: number
  /** Whether the answer may take as long as it likes. */
  streams?: boolean
}

/** Bodies from this size, in bytes, are handled one at a time per sender, so that others wait for one of them at most. */
const LARGE = 256 * 1_024

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route's `onRequest` hook, before the body is read. */
    jsonLimits: JsonLimits | undefined
  }
}

/** Reads a body of at most `max` bytes and leaves the rest unread. Fault `too_large`. */
function readBody({ raw, headers }: FastifyRequest, max: number): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > max) throw fault('too_large')
  sendContinue(raw)
  const body = new ByteBuffer()
  return new Promise((resolve, reject) => {
    raw.on('data', (piece: Buffer) => {
      body.add(piece)
      if (body.size <= max) return
      body.take()
      reject(fault('too_large'))
    })
    raw.on('end', () => resolve(Buffer.concat(body.take())))
    raw.on('error', reject)
    raw.on('close', () => reject(new Error('The client hung up before the end of the body.')))
  })
}

/** Large JSON bodies of one account in memory. The others stay with their sender, and so many may wait. */
const LARGE_AT_ONCE = 4
const LARGE_WAITING = 64

/** Whether a request may have a large JSON body that will be read. */
function hasLargeBody({ headers, jsonLimits }: FastifyRequest): boolean {
  const max = jsonLimits?.bytes ?? 0
  const { 'content-length': length = max, 'content-type': type = '' } = headers
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return hasBody && /json/i.test(type) && Number(length) >= LARGE && Number(length) <= max
}

/** A body that names its action is read before its sender is known. */
const senderOf = ({ admitted, ip }: FastifyRequest) => String(admitted?.caller?.user.id ?? ip)

/**
 * Delays large bodies while the account has others in memory; fault `busy` if too many wait. Returns a function that
 * resolves after the responses to the sender's earlier ones.
 */
function limitLargeBodies(app: FastifyInstance): (request: FastifyRequest) => Promise<void> {
  const full = () => fault('busy', { text: 'Too many large requests at once.', retryAfter: 5 })
  const inMemory = makeQueuePerKey({ atOnce: LARGE_AT_ONCE, waiting: LARGE_WAITING, full })
  const handled = makeKeyedMutex<string>()
  const ends = new WeakMap<FastifyRequest, () => void>()
  app.addHook('preParsing', (request, { raw }, _payload, done) => {
    if (!hasLargeBody(request)) return done()
    sendContinue(request.raw)
    const answered = async (): Promise<void> => {
      if (raw.closed) return
      done()
      // Also when the sender hangs up.
      await once(raw, 'close')
      ends.get(request)?.()
    }
    inMemory(senderOf(request), answered).then(undefined, done)
  })
  return (request) =>
    new Promise((resolve) => {
      const answered = new Promise<void>((end) => ends.set(request, end))
      handled(senderOf(request), () => (resolve(), answered)).catch(resolve)
    })
}

/** Accepts JSON bodies only: web pages can send forms and plain text across sites without a preflight request. */
export function acceptJson(app: FastifyInstance): void {
  app.decorateRequest('jsonLimits', undefined)
  const turnOf = limitLargeBodies(app)
  app.removeContentTypeParser(['text/plain', 'application/json'])
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { bytes: max, values, streams } = request.jsonLimits ?? { bytes: 0, values: 0 }
    const bytes = await readBody(request, max)
    if (bytes.length >= LARGE && !streams) await turnOf(request)
    // Actions without parameters may send the header with an empty body.
    if (bytes.length === 0) return {}
    const excess = findExcess(bytes, { depth: JSON_DEPTH, values })
    if (excess === 'depth') throw excessFault(`is nested deeper than ${JSON_DEPTH} levels`)
    if (excess === 'values') throw excessFault(`has more than ${values} values`)
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, body?: unknown) => (error ? reject(error) : resolve(body))
      Promise.resolve(parse(request, bytes.toString(), done)).catch(reject)
    })
  })
}

const excessFault = (what: string) =>
  fault('bad_request', { text: `The body ${what}.`, fields: { details: [{ path: '', message: `the body ${what}` }] } })
