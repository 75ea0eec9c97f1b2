import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isInternal } from '../domain/accounts/accounts.ts'

const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const

/**
 * Whether a request came through a proxy that is not trusted: it carries a forwarding header and comes from this
 * machine or its network. From other addresses such a header is forged.
 */
export function isUntrustedProxy({ headers, ip, socket }: FastifyRequest): boolean {
  if (FORWARDED.every((name) => headers[name] === undefined)) return false
  return ip === socket.remoteAddress && isInternal(ip)
}

/** Logs a warning about the first untrusted proxy and reports its address to `note`. */
export function warnOfUntrustedProxies(app: FastifyInstance, note: (address: string) => void): void {
  let hasWarned = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!hasWarned && isUntrustedProxy(request)) {
      hasWarned = true
      request.log.warn(
        { proxy: request.ip },
        `requests come through a proxy at ${request.ip} that is not trusted, so all clients seem to have one address: svc config set trusted_proxies ${request.ip}`,
      )
      note(request.ip)
    }
    done()
  })
}
