import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { DatabaseMoved } from '../../base/errors.ts'
import type { HostStatus, Readiness } from '../host-status.ts'

/** How long a result is reused, ms. */
const FRESH = 1_000

/** The readiness of the service, examined at most once a second: `/readyz` and `/metrics` may be public. */
export function freshReadiness(clock: Clock, { readiness }: HostStatus): () => Promise<Readiness> {
  let last: { at: number; found: Promise<Readiness> } | undefined
  return () => {
    const now = clock.now()
    if (!last || Math.abs(now - last.at) > FRESH) last = { at: now, found: readiness() }
    return last.found
  }
}

/** `/healthz`: the process runs. `/readyz`: it can serve requests and is not shutting down. */
export function health(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  let closing = false
  app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  app.get('/healthz', () => ({ ok: true, status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    if (closing) return reply.code(503).send({ ok: false, status: 'stopping' })
    try {
      const { ready, checks } = await readiness()
      return await reply.code(ready ? 200 : 503).send({ ok: ready, status: ready ? 'ready' : 'not ready', checks })
    } catch (error) {
      // Logged when it was detected.
      if (!(error instanceof DatabaseMoved)) request.log.error({ err: error as Error }, 'not ready')
      return reply.code(503).send({ ok: false, status: 'not ready' })
    }
  })
}
