import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { fault } from '../contract/errors.ts'

/** The host name of a Host header: without port, in lower case, IPv6 without brackets. */
function nameIn(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, '')
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name.replace(/\.$/, '')
}

/** Names that are accepted in addition to `localhost` and IP addresses. */
export interface HostNames {
  host: string
  public_url: string
  allowed_hosts: readonly string[]
}

/**
 * Rejects requests for foreign host names (421). Prevents DNS rebinding, in which a page points its own name at this
 * server so that the browser treats both as the same origin. IP addresses are safe: rebinding needs a name.
 */
export function rejectForeignHosts(app: FastifyInstance, { host, public_url, allowed_hosts }: HostNames): void {
  const own = new Set(['localhost', nameIn(host), ...allowed_hosts.map(nameIn)])
  if (public_url !== '') own.add(nameIn(new URL(public_url).host))
  const isOwn = (host: string): boolean => own.has(nameIn(host)) || isIP(nameIn(host)) > 0
  /** The last accepted Host header: nearly all requests have the same one. */
  let known = 'localhost'
  function isAccepted(host: string): boolean {
    if (host === known) return true
    if (!isOwn(host)) return false
    known = host
    return true
  }
  app.addHook('onRequest', ({ raw: { headers, url = '' } }, _reply, done) => {
    // Only HTTP/1.0 requests may lack the header, and no browser sends those. An absolute address counts too (RFC 9112, 3.2.2).
    const [, named = 'localhost'] = url.startsWith('/') ? [] : (/^https?:\/\/([^/?#]*)/i.exec(url) ?? [])
    const isForeign = !isAccepted(headers.host ?? 'localhost') || (named !== 'localhost' && !isOwn(named))
    done(isForeign ? fault('misdirected_request') : undefined)
  })
}
