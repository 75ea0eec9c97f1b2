import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { fault } from '../contract/errors.ts'

/** The name of a Host header without its port, in lower case; an IPv6 address without its brackets. */
function nameIn(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, '')
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name.replace(/\.$/, '')
}

/** The names under which requests are answered, beside `localhost` and every literal address. */
export interface OwnNames {
  host: string
  public_url: string
  allowed_hosts: readonly string[]
}

/**
 * Answers no request for a name that is not the service's (421). A page can let its own name stand for the address of this
 * server, in the user's network or on their machine (DNS rebinding): to a browser the two are then one site. That takes a
 * name, so addresses are safe.
 */
export function answerOwnNames(app: FastifyInstance, { host, public_url, allowed_hosts }: OwnNames): void {
  const own = new Set(['localhost', nameIn(host), ...allowed_hosts.map(nameIn)])
  if (public_url !== '') own.add(nameIn(new URL(public_url).host))
  app.addHook('onRequest', (request, _reply, done) => {
    // Only HTTP/1.0 may come without; no browser speaks it.
    const name = nameIn(request.headers.host ?? 'localhost')
    done(own.has(name) || isIP(name) > 0 ? undefined : fault('misdirected_request'))
  })
}
