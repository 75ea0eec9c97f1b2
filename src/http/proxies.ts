import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isInternal } from '../domain/accounts/accounts.ts'

const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const

/**
 * Whether a request came through a proxy that is not among the trusted ones: it brings a client's address, which is not believed,
 * from this machine or its network. From anywhere else such a header is somebody's invention.
 */
export function isUnnamedProxy({ headers, ip, socket }: FastifyRequest): boolean {
  if (FORWARDED.every((name) => headers[name] === undefined)) return false
  return ip === socket.remoteAddress && isInternal(ip)
}

/** Says once in the log that a proxy should be named, and tells `note`. */
export function warnOfUnnamedProxies(app: FastifyInstance, note: (address: string) => void): void {
  let isSaid = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && isUnnamedProxy(request)) {
      isSaid = true
      request.log.warn(
        { proxy: request.ip },
        `requests come through a proxy at ${request.ip} that is not trusted, so all clients seem to have one address: svc config set trusted_proxies ${request.ip}`,
      )
      note(request.ip)
    }
    done()
  })
}
