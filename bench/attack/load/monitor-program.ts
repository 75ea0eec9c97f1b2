/** What the monitor is told: whom it asks, in whose name it writes, and how long it lives at most. */
export interface Watched {
  url: string
  token: string
  mostMs: number
}

/** Latencies in ms; `longest` also counts a request that was still waiting at the end. */
interface Latency {
  answered: number
  p50: number
  p99: number
  longest: number
}

export interface Report {
  health: Latency
  writes: Latency
  /** Answers other than 200 and broken connections, each named once. */
  failures: string[]
  /** Longest delay of the server's event loop in ms, as its own metrics tell. */
  stall: number
}

/**
 * The program of the monitor. It is handed over as text and runs in a process of its own, so that the load generator does not
 * slow it down: it must not use anything from outside its own body. It prints a line when it has begun, and its report
 * when its input ends.
 */
export function monitor({ url, token, mostMs }: Watched): void {
  const { Agent, request } = process.getBuiltinModule('node:http')
  const { hostname, port } = new URL(url)
  const failures = new Set<string>()
  const started = performance.now()
  let isOver = false

  /** Asks over the agent's one connection; resolves with the text of a 200, else with undefined. */
  const ask = (agent: InstanceType<typeof Agent>, path: string, body?: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const headers = body ? { authorization: `Bearer ${token}`, 'content-type': 'application/json' } : {}
      const method = body ? 'POST' : 'GET'
      const sent = request({ agent, hostname, port, path, method, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        answer.on('end', () => {
          if (answer.statusCode === 200) return resolve(text)
          failures.add(`${path}: ${answer.statusCode} ${text.slice(0, 200)}`)
          resolve(undefined)
        })
        answer.on('error', () => resolve(undefined))
      })
      sent.on('error', (error) => {
        failures.add(`${path}: ${error.message}`)
        resolve(undefined)
      })
      sent.end(body)
    })

  /**
   * Asks at a steady pace. An answer that comes late also delays the requests that were due meanwhile, so these count too:
   * otherwise a long stall would be one sample among many fast ones.
   */
  function pace(everyMs: number, once: (agent: InstanceType<typeof Agent>) => Promise<string | undefined>) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const samples: number[] = []
    let answered = 0
    let since = performance.now()
    const count = (ms: number) => {
      for (let late = ms; late > 0; late -= everyMs) samples.push(late)
    }
    async function run(): Promise<void> {
      while (!isOver) {
        since = performance.now()
        const text = await once(agent)
        if (isOver) return
        count(performance.now() - since)
        if (text !== undefined) answered += 1
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, since + everyMs - performance.now())))
      }
    }
    return {
      first: () => once(agent),
      begin: () => void run(),
      end(): Latency {
        const waiting = performance.now() - since
        if (waiting > everyMs) count(waiting)
        const sorted = samples.toSorted((a, b) => a - b)
        const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
        return { answered, p50: at(0.5), p99: at(0.99), longest: sorted.at(-1) ?? 0 }
      },
    }
  }

  const scraper = new Agent({ keepAlive: true, maxSockets: 1 })
  /** The longest delay since the last time this was asked. */
  const stallMs = async (): Promise<number> => {
    const text = (await ask(scraper, '/metrics')) ?? ''
    return Number(/^svc_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1] ?? Infinity) * 1_000
  }

  let number = 0
  const note = () => JSON.stringify({ path: '/note.txt', content: `Note ${(number += 1)}` })
  const health = pace(20, (agent) => ask(agent, '/healthz'))
  const writes = pace(120, (agent) => ask(agent, '/api/filesystem.php?action=write', note()))

  async function end(): Promise<void> {
    isOver = true
    const report: Report = { health: health.end(), writes: writes.end(), failures: [], stall: await stallMs() }
    report.failures = [...failures]
    process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit())
  }

  void (async () => {
    await health.first()
    await writes.first()
    await stallMs()
    health.begin()
    writes.begin()
    process.stdout.write(`${Math.round(performance.now() - started)}\n`)
    process.stdin.resume().once('end', () => void end())
    setTimeout(() => process.exit(1), mostMs)
  })()
}
