import type { FastifyInstance } from 'fastify'
import type { Domain } from '../../domain/domain.ts'

/** `/healthz`: the process is up. `/readyz`: it can do its work, and is not about to stop. */
export function health(app: FastifyInstance, domain: Domain): void {
  let closing = false
  app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  app.get('/healthz', () => ({ ok: true, status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    if (closing) return reply.code(503).send({ ok: false, status: 'stopping' })
    try {
      await domain.instance.check()
      return { ok: true, status: 'ready' }
    } catch (error) {
      request.log.error({ err: error as Error }, 'not ready')
      return reply.code(503).send({ ok: false, status: 'not ready' })
    }
  })
}
