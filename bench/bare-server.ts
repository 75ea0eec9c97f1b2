import Fastify, { LogController } from 'fastify'
import { makeLogger } from '../src/http/logger.ts'

/** The minimum for a ping in Fastify: one route, with the logger of the service and one log line per request. */
export async function serveBare(): Promise<void> {
  const app = Fastify({
    logger: (await makeLogger('info', 'json')) ?? false,
    logController: new LogController({ disableRequestLogging: true }),
  })
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      { method: request.method, path: request.url, status: reply.statusCode, ms: reply.elapsedTime },
      'request',
    )
    done()
  })
  app.get('/ping', () => Promise.resolve({ ok: true, status: 'ok', timestamp: new Date().toISOString() }))
  process.once('SIGTERM', () => void app.close())
  console.log(JSON.stringify({ url: await app.listen({ host: '127.0.0.1', port: 0 }) }))
}
