import pg from 'pg'
import { Busy, errorCode } from '../../base/errors.ts'

// Finds the primary among the hosts of an address. Which one it is, only Postgres knows (and what manages it, such as Patroni). All hosts
// are asked at the same time when a connection fails, and every second where there are several: a host that was replaced without
// noticing, because it hung or lost its manager, goes on as a primary. Its timeline is older than that of its successor.

/** How long a host may take to answer; ms. */
const ANSWER_MS = 3_000
/** How long a connection waits for a primary. */
const PATIENCE_MS = 1_000
/** Time between questions to several hosts, and while there is no primary. */
const ASK_MS = 1_000
const ASK_AGAIN_MS = 250
/** SQLSTATEs of a server that starts or stops. */
const STOPPED = /^57P0/

const STANDBY = 'The database server is a standby and accepts no writes.'
const REPLACED = 'The database server was replaced by another one and accepts no writes.'

/** What a host answers; `isRefusing` if it runs and takes no connection. */
type Answer = { url: string; timeline: number } | { url: string; isRefusing: boolean; error: Error }

/**
 * The timeline of a primary, which increases with every promotion. Throws `Busy` for a standby: it takes no writes and lags behind.
 * 0 for an only host, because not every engine has timelines.
 */
async function timelineOf(client: pg.ClientBase, hasOthers: boolean): Promise<number> {
  // A WAL file is named after its timeline and its place.
  const name = hasOthers ? 'pg_walfile_name(pg_current_wal_insert_lsn())' : `'0'`
  const { rows } = await client.query<{ name: string | null }>(
    `select case when pg_is_in_recovery() then null else ${name} end as name`,
  )
  const found = rows[0]!.name
  if (found === null) throw new Busy(STANDBY)
  return Number.parseInt(found.slice(0, 8), 16)
}

async function ask(url: string, config: pg.ClientConfig, hasOthers: boolean): Promise<Answer> {
  const limit = Math.min(config.connectionTimeoutMillis ?? ANSWER_MS, ANSWER_MS)
  const limits = { connectionTimeoutMillis: limit, query_timeout: limit }
  const client = new pg.Client({ ...config, ...limits, connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return { url, timeline: await timelineOf(client, hasOthers) }
  } catch (thrown) {
    const code = errorCode(thrown)
    return { url, error: thrown as Error, isRefusing: /^[0-9A-Z]{5}$/.test(code) && !STOPPED.test(code) }
  } finally {
    client.end().catch(() => undefined)
  }
}

/** Asks each host once at a time: one that hangs delays no answer of the others. `take` gets every answer, and may replace it. */
function makeQuestions(urls: readonly string[], config: pg.ClientConfig, take: (answer: Answer) => Answer) {
  const asked = new Map<string, Promise<Answer>>()
  function answerOf(url: string): Promise<Answer> {
    const known = asked.get(url)
    if (known) return known
    const made = ask(url, config, urls.length > 1).then((answer) => {
      asked.delete(url)
      return take(answer)
    })
    asked.set(url, made)
    return made
  }
  return (): Promise<Answer>[] => urls.map(answerOf)
}

/** What waits for a primary, each for a limited time. */
function makeWaiting() {
  let waiting: (() => void)[] = []
  return {
    async wait(): Promise<void> {
      let limit: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        limit = setTimeout(resolve, PATIENCE_MS)
      })
      clearTimeout(limit)
    },
    end(): void {
      const ended = waiting
      waiting = []
      for (const go of ended) go()
    },
  }
}

/** `onUse` is called with each primary that is found. */
export function makePrimarySearch(urls: readonly string[], config: pg.ClientConfig, onUse: (url: string) => void) {
  const hasOthers = urls.length > 1
  const waiting = makeWaiting()
  let current = urls[0]!
  /** Of the newest primary that was met. */
  let timeline = 0
  /** Why there is no primary. */
  let away: Error | undefined
  /** Searches because a connection failed. */
  let searches = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function use(answer: { url: string; timeline: number }): void {
    timeline = answer.timeline
    current = answer.url
    away = undefined
    waiting.end()
    onUse(current)
  }

  const askAll = makeQuestions(urls, config, (answer) => {
    if ('error' in answer) return answer
    if (answer.timeline < timeline) return { url: answer.url, isRefusing: false, error: new Busy(REPLACED) }
    if (answer.timeline > timeline || away || searches > 0) use(answer)
    return answer
  })

  function plan(ms: number): void {
    const again = () => {
      Promise.all(askAll()).catch(() => undefined)
      if (away) plan(ASK_AGAIN_MS)
      else if (hasOthers) plan(ASK_MS)
    }
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(again, ms).unref()
  }
  if (hasOthers) plan(ASK_MS)

  function miss(error: Error): void {
    away = error
    plan(ASK_AGAIN_MS)
  }

  return {
    url: () => current,
    away: () => away,
    /** There is no primary until one is found. */
    miss,

    /** Asks all hosts. Returns when one is the primary or all have answered. */
    async search(): Promise<void> {
      searches += 1
      const answers = askAll()
      const primaries = answers.map(async (answer) => {
        if ('error' in (await answer)) throw new Busy(STANDBY)
        return true
      })
      const isFound = await Promise.any(primaries).catch(() => false)
      searches -= 1
      if (isFound) return
      const failures = (await Promise.all(answers)).flatMap((answer) => ('error' in answer ? [answer] : []))
      const refusing = failures.filter(({ isRefusing }) => isRefusing)
      // It may be the primary, without a free connection: who connects learns why it refuses.
      if (refusing.length > 0) current = (refusing.find(({ url }) => url === current) ?? refusing[0]!).url
      else miss(failures.find(({ url }) => url === current)!.error)
    },

    /** Waits a moment while there is no primary. Throws if there is none then. */
    async wait(): Promise<void> {
      if (away) await waiting.wait()
      if (away) throw away as Error
    },

    /** Throws `Busy` if this connection to a host does not lead to the primary. */
    async assertPrimary(client: pg.ClientBase, url: string): Promise<void> {
      const found = await timelineOf(client, hasOthers)
      if (found < timeline) throw new Busy(REPLACED)
      if (found > timeline) use({ url, timeline: found })
    },

    close(): void {
      isClosed = true
      clearTimeout(timer)
      waiting.end()
    },
  }
}
