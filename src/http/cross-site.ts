import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { fault } from '../contract/errors.ts'
import type { InSession } from '../domain/accounts/accounts.ts'

const HEADER = 'x-csrf-token'
export const CSRF_FIELD = 'csrf_token'

function webUrl(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
  } catch {
    return undefined
  }
}

/** Whether an origin is this service: the public URL, or the host name of this request. */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  const from = webUrl(origin)
  const own = webUrl(publicUrl)
  if (!from) return false
  // A plain-HTTP page under this host name could come from an attacker on the network.
  if (from.host === own?.host) return from.origin === own.origin
  return from.host === host
}

/**
 * Rejects requests that a page of another site sent (OWASP CSRF Prevention: Fetch Metadata, then Origin). Programs that
 * send neither header pass, because they hold no cookies of a user. Fault `csrf`.
 */
export function rejectCrossSite(request: FastifyRequest, publicUrl: string): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return
    throw fault('csrf')
  }
  const { origin, host } = request.headers
  if (origin === undefined) return
  if (!isOwn(origin, host, publicUrl)) throw fault('csrf')
}

function sameToken(given: unknown, { session }: InSession): boolean {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(given), Buffer.from(session.csrf_token)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Whether the CSRF token must still come with the body. Fault `csrf` for a wrong token in the header. */
export function isTokenPending(request: FastifyRequest, caller: InSession): boolean {
  const given = request.headers[HEADER]
  if (given === undefined) return true
  if (!sameToken(given, caller)) throw fault('csrf')
  return false
}

/** Checks a CSRF token that came with the body. Fault `csrf`. */
export function assertToken(given: unknown, caller: InSession): void {
  if (!sameToken(given, caller)) throw fault('csrf')
}
