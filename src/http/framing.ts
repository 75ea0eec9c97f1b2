import type { FastifyInstance } from 'fastify'
import { fault } from '../contract/errors.ts'

/** Whether a request has several Host headers; `rawHeaders` alternates names and values. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts++
  return hosts > 1
}

/**
 * Rejects requests that a proxy may interpret differently (request smuggling): several Host headers (RFC 9112, 3.2), of which
 * Node takes the first, and transfer codings other than `chunked` (RFC 9112, 6.1), which Node does not decode.
 */
export function rejectAmbiguousFraming(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { headers, rawHeaders } }, _reply, done) => {
    if (hasSeveralHosts(rawHeaders)) return done(fault('bad_request', { text: 'A request has one Host header.' }))
    // Node joins several headers of that name with commas.
    const coding = headers['transfer-encoding']
    const isChunked = coding === undefined || coding.toLowerCase() === 'chunked'
    done(isChunked ? undefined : fault('bad_request', { text: 'The only transfer coding is chunked.' }))
  })
}
