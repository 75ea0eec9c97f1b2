import type { FastifyInstance } from 'fastify'

/** One year, in seconds. */
const HSTS_AGE = 31_536_000

/**
 * What browsers are told with every answer, also with errors (OWASP HTTP Headers Cheat Sheet): nothing is to be guessed, framed
 * or run. A route that shows something says so itself with a policy of its own, which then counts instead.
 */
export function securityHeaders(app: FastifyInstance, publicUrl: string): void {
  const headers = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': `max-age=${HSTS_AGE}` } : {}),
  }
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
