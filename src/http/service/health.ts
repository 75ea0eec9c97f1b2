import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { DatabaseMoved } from '../../base/errors.ts'
import type { Machine, Readiness } from '../machine.ts'

/** Anybody may ask: within this time, milliseconds, they get the same answer. */
const FRESH = 1_000

/** `/healthz`: the process is up. `/readyz`: it can do its work, and is not about to stop. */
export function health(app: FastifyInstance, clock: Clock, { readiness }: Machine): void {
  let closing = false
  let last: { at: number; found: Promise<Readiness> } | undefined
  app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  app.get('/healthz', () => ({ ok: true, status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    if (closing) return reply.code(503).send({ ok: false, status: 'stopping' })
    const now = clock.now()
    if (!last || Math.abs(now - last.at) > FRESH) last = { at: now, found: readiness() }
    try {
      const { ready, checks } = await last.found
      return await reply.code(ready ? 200 : 503).send({ ok: ready, status: ready ? 'ready' : 'not ready', checks })
    } catch (error) {
      // That was logged when it was noticed.
      if (!(error instanceof DatabaseMoved)) request.log.error({ err: error as Error }, 'not ready')
      return reply.code(503).send({ ok: false, status: 'not ready' })
    }
  })
}
