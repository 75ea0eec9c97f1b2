import pg from 'pg'
import type { Topic } from './database.ts'
import type { Hearing, Telling } from './notifications.ts'

// What processes tell each other over LISTEN and NOTIFY. It goes out with the commit, and nobody is sure to hear it: a
// connection may be lost, and a pooler that gives each transaction another one swallows everything. So it only wakes, as
// early as can be; whoever is woken reads the rows, and whoever sleeps looks at them now and then.

const CHANNEL = 'svc_news'
/** How long to wait before a lost connection is made anew, at first and at most, ms. */
const PAUSE_MS = { first: 250, most: 15_000 }
/** When the other end has said nothing for so long it is asked whether it is still there, ms. */
const SILENCE_MS = 30_000

const isTopic = (text: string | undefined): text is Topic => text === 'feed' || text === 'room' || text === 'access'

/** Tellings in one message: some 50 bytes each at most, of 8,000 that a message may have. */
const AT_ONCE = 150

/** Statements that tell, when the transaction they stand in is committed. */
export function notifications(tellings: readonly Telling[]): string[] {
  const statements: string[] = []
  for (let first = 0; first < tellings.length; first += AT_ONCE) {
    const words = tellings.slice(first, first + AT_ONCE).map(({ topic, id, head }) => `${topic} ${id} ${head}`)
    statements.push(`notify ${CHANNEL}, '${words.join(',')}'`)
  }
  return statements
}

/** What a message tells. Whoever may use the database can send one: what makes no sense is left out. */
const readNotification = (payload: string): Telling[] =>
  payload.split(',').flatMap((text) => {
    const [topic, ...numbers] = text.split(' ')
    const [id, head] = numbers.map(Number)
    return isTopic(topic) && Number.isSafeInteger(id) && Number.isSafeInteger(head)
      ? [{ topic, id: id!, head: head! }]
      : []
  })

/** A connection that hears what other processes tell, once `begin` was called; a lost one is made anew. */
export function makeListening(config: pg.ClientConfig, { pass, missed }: Pick<Hearing, 'pass' | 'missed'>) {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let pause = PAUSE_MS.first
  let hasBegun = false
  let isClosed = false

  function start(): void {
    const made = new pg.Client({ ...config, keepAliveInitialDelayMillis: SILENCE_MS })
    client = made
    // A lost connection says so more than once.
    const again = () => {
      if (client !== made) return
      client = undefined
      made.end().catch(() => undefined)
      if (isClosed) return
      timer = setTimeout(start, pause).unref()
      pause = Math.min(2 * pause, PAUSE_MS.most)
    }
    made.on('error', again)
    made.on('end', again)
    made.on('notification', ({ payload }) => pass(readNotification(payload ?? '')))
    const listening = () => {
      pause = PAUSE_MS.first
      // From here on everything is heard; what was told before was not.
      missed()
    }
    made
      .connect()
      .then(() => made.query(`listen ${CHANNEL}`))
      .then(listening)
      .catch(again)
  }

  return {
    /** Listens from now on; again, it does nothing. */
    begin(): void {
      if (hasBegun || isClosed) return
      hasBegun = true
      start()
    },
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      // A connection that is just being made may fail to.
      await client?.end().catch(() => undefined)
    },
  }
}
