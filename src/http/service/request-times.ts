/** Upper bounds of the buckets in seconds. */
const BOUNDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60]

const NAME = 'svc_request_seconds'
const HEAD = [
  `# HELP ${NAME} Time from the first byte of a request to the end of its answer.`,
  `# TYPE ${NAME} histogram`,
]

interface Series {
  /** Requests by bucket; the last one has no bound. */
  counts: number[]
  sum: number
}

export interface RequestTimes {
  observe(route: string, action: string, status: number, seconds: number): void
  /** All series in Prometheus text format, ending in a line feed. */
  text(): string
}

function linesOf(labels: string, { counts, sum }: Series): string[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    return `${NAME}_bucket{le="${BOUNDS[index] ?? '+Inf'}",${labels}} ${total}`
  })
  return [...buckets, `${NAME}_sum{${labels}} ${sum}`, `${NAME}_count{${labels}} ${total}`]
}

/**
 * A histogram of request times by route, action and status. The one of prom-client builds and hashes the labels again
 * with each observation. Labels come from routes, not from requests, so the number of series is bounded.
 */
export function makeRequestTimes(): RequestTimes {
  const series = new Map<string, Series>()
  return {
    observe(route, action, status, seconds) {
      const labels = `route="${route}",action="${action}",status="${status}"`
      let one = series.get(labels)
      if (!one) series.set(labels, (one = { counts: Array.from(BOUNDS, () => 0).concat(0), sum: 0 }))
      const bucket = BOUNDS.findIndex((bound) => seconds <= bound)
      one.counts[bucket < 0 ? BOUNDS.length : bucket]! += 1
      one.sum += seconds
    },
    text: () => [...HEAD, ...[...series].flatMap(([labels, one]) => linesOf(labels, one))].join('\n') + '\n',
  }
}
