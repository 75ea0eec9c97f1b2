import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Measurement, Readiness } from '../host-status.ts'

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60]

/** Gauges named like counters, which Prometheus forbids. Each is the sum of a metric with labels. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `svc_nodejs_active_${what}_total`)

/** Whether a request came from this machine and not through a proxy. */
function isLocal(request: FastifyRequest): boolean {
  const { 'x-forwarded-for': forwardedFor, forwarded } = request.headers
  return LOOPBACK.test(request.ip) && forwardedFor === undefined && forwarded === undefined
}

/** Whether the service is ready; where that cannot be examined, it is not. */
export const readyMeasurement = (readiness: () => Promise<Readiness>): Measurement => ({
  name: 'svc_ready',
  help: '1 if /readyz answers 200, otherwise 0.',
  read: () =>
    readiness().then(
      ({ ready }) => Number(ready),
      () => 0,
    ),
})

/** Reads it for each scrape; a number that cannot be read is NaN. */
function report(registry: Registry, { name, help, read }: Measurement): void {
  const value = async () => {
    try {
      return await read()
    } catch {
      return NaN
    }
  }
  const options = { name, help, registers: [registry] }
  if (!name.endsWith('_total')) {
    const gauge: Gauge = new Gauge({ ...options, collect: async () => gauge.set(await value()) })
  } else {
    const counter: Counter = new Counter({
      ...options,
      async collect() {
        const now = await value()
        counter.reset()
        counter.inc(now)
      },
    })
  }
}

/** Prometheus text format: duration of requests by route, action and status, and metrics of the process. */
export function metrics(app: FastifyInstance, readers: string, measurements: readonly Measurement[]): void {
  if (readers === 'off') return
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  for (const sum of MISNAMED) registry.removeSingleMetric(sum)
  for (const each of measurements) report(registry, each)
  const seconds = new Histogram({
    name: 'svc_request_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['route', 'action', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  })

  // Looking up a series by labels costs more than observing. Keys come from routes, not from requests, so the map is
  // bounded.
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
