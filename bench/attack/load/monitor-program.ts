/** Parameters of the monitor: the server, the token to write with, and its longest lifetime. */
export interface Watched {
  url: string
  token: string
  mostMs: number
}

/** Latencies, ms; `longest` includes a request still pending at the end. */
interface Latency {
  answered: number
  p50: number
  p99: number
  longest: number
}

export interface Report {
  health: Latency
  writes: Latency
  /** Distinct responses other than 200, and broken connections. */
  failures: string[]
  /** Longest event loop delay of the server by its own metrics, ms. */
  stall: number
}

/**
 * The program of the monitor. It is passed as text and runs in its own process, so that the load generator does not
 * slow it down: it must not use anything from outside its own body. It prints a line when it has started, and its
 * report when its input ends.
 */
export function monitor({ url, token, mostMs }: Watched): void {
  const { Agent, request } = process.getBuiltinModule('node:http')
  const { hostname, port } = new URL(url)
  const failures = new Set<string>()
  const started = performance.now()
  let isOver = false

  /** Sends a request over the agent's only connection; resolves with the body of a 200, otherwise with undefined. */
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
   * Sends requests at a constant rate. A late response also delays the requests due meanwhile, which are counted too:
   * otherwise a long stall would be one sample among many (coordinated omission).
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

  // The server may close an idle connection at the moment it is used again.
  const scraper = new Agent({ keepAlive: false })
  /** The longest delay since the last call. */
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
