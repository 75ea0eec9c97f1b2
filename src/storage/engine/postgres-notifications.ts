import pg from 'pg'
import { makeBackoff } from '../../base/retry.ts'
import type { Topic } from './database.ts'
import type { Notifications, Notification } from './notifications.ts'

// Notifications between processes over LISTEN and NOTIFY. They go out with the commit and may be lost: a connection can break, and
// a pooler in transaction mode drops them all. They only wake: listeners read the rows, and look at them from time to time anyway.

const CHANNEL = 'svc_news'
/** Delays before a lost connection is made anew; several servers lose theirs at once. */
const RECONNECT = { first: 250, longest: 15_000, jitter: 0.5 }

const isTopic = (text: string | undefined): text is Topic => text === 'feed' || text === 'room' || text === 'access'

/** Notifications in one payload: at most some 50 bytes each, of the 8,000 of a payload. */
const AT_ONCE = 150

/** NOTIFY statements, which take effect with the commit of their transaction. */
export function notifyStatements(notifications: readonly Notification[]): string[] {
  const statements: string[] = []
  for (let first = 0; first < notifications.length; first += AT_ONCE) {
    const words = notifications.slice(first, first + AT_ONCE).map(({ topic, id, head }) => `${topic} ${id} ${head}`)
    statements.push(`notify ${CHANNEL}, '${words.join(',')}'`)
  }
  return statements
}

/** Parses a payload. Every user of the database can send one, so what is malformed is left out. */
const readNotification = (payload: string): Notification[] =>
  payload.split(',').flatMap((text) => {
    const [topic, ...numbers] = text.split(' ')
    const [id, head] = numbers.map(Number)
    return isTopic(topic) && Number.isSafeInteger(id) && Number.isSafeInteger(head)
      ? [{ topic, id: id!, head: head! }]
      : []
  })

/** A connection that listens to other processes once `begin` was called, and reconnects. */
export function makePostgresListener(
  config: pg.ClientConfig,
  { publish, missed }: Pick<Notifications, 'publish' | 'missed'>,
) {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  const backoff = makeBackoff(RECONNECT)
  let hasBegun = false
  let isClosed = false

  function start(): void {
    const made = new pg.Client(config)
    client = made
    // A lost connection says so more than once.
    const again = () => {
      if (client !== made) return
      client = undefined
      made.end().catch(() => undefined)
      if (isClosed) return
      timer = setTimeout(start, backoff.next()).unref()
    }
    made.on('error', again)
    made.on('end', again)
    made.on('notification', ({ payload }) => publish(readNotification(payload ?? '')))
    const listening = () => {
      backoff.reset()
      // Notifications of the time without a connection are lost.
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
