import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { fault } from '../contract/errors.ts'
import type { InSession } from '../domain/accounts/accounts.ts'

/** Header and field that carry the CSRF token of a session. */
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

/** Whether a page of this origin is ours: it has the public URL, or the name under which this request came. */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  const from = webUrl(origin)
  const own = webUrl(publicUrl)
  if (!from) return false
  // A page without TLS may be anybody's on the way, although it bears our name.
  if (from.host === own?.host) return from.origin === own.origin
  return from.host === host
}

/**
 * Refuses what a page of another site sent (OWASP: Fetch Metadata, then origin). Programs that send neither header pass;
 * they have no cookies of somebody else. Fault `csrf`.
 */
export function refuseForeign(request: FastifyRequest, publicUrl: string): void {
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

/** Whether the token is still to come with the body; a wrong one is refused at once. Fault `csrf`. */
export function tokenDue(request: FastifyRequest, caller: InSession): boolean {
  const given = request.headers[HEADER]
  if (given === undefined) return true
  if (!sameToken(given, caller)) throw fault('csrf')
  return false
}

/** Checks a token that came with the body. Fault `csrf`. */
export function assertToken(given: unknown, caller: InSession): void {
  if (!sameToken(given, caller)) throw fault('csrf')
}
