import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60]

/** Gauges named like counters, which Prometheus forbids. Each is the sum of one that is told by type. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `svc_nodejs_active_${what}_total`)

/** Whether a request was made on this machine; one that a proxy passed on was not. */
function isLocal(request: FastifyRequest): boolean {
  const { 'x-forwarded-for': forwardedFor, forwarded } = request.headers
  return LOOPBACK.test(request.ip) && forwardedFor === undefined && forwarded === undefined
}

/** `/metrics` in the Prometheus text format: requests by route, action and status with their durations, and the process. */
export function metrics(app: FastifyInstance, readers: string): void {
  if (readers === 'off') return
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  for (const sum of MISNAMED) registry.removeSingleMetric(sum)
  const seconds = new Histogram({
    name: 'svc_request_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['route', 'action', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  })

  // Finding a series by its labels costs more than counting in it. Names come from the routes, never from the request:
  // their number is bounded.
  const series = new Map<string, ReturnType<typeof seconds.labels>>()

  app.addHook('onResponse', (request, reply, done) => {
    const { url = 'none', config } = request.routeOptions
    const { endpoint: route = url, action = '' } = config
    const { statusCode: status } = reply
    const key = `${route} ${action} ${status}`
    let one = series.get(key)
    if (!one) series.set(key, (one = seconds.labels({ route, action, status })))
    one.observe(reply.elapsedTime / 1_000)
    done()
  })

  app.get('/metrics', async (request, reply) => {
    if (readers === 'loopback' && !isLocal(request)) return reply.callNotFound()
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
