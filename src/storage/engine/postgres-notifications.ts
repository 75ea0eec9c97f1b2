import pg from 'pg'
import { makeBackoff } from '../../base/retry.ts'
import type { Peers, Topic } from './database.ts'
import type { Notifications, Notification } from './notifications.ts'
import type { PostgresHosts } from './postgres-hosts.ts'

// Notifications between processes with LISTEN and NOTIFY. They are sent after the commit and may be lost: a connection
// can break, a process can end, and a pooler in transaction mode drops them all. They only wake listeners, which read
// the rows and also poll them.

const CHANNEL = 'svc_news'
/** For messages to other processes. */
const PEERS = 'svc_peers'
/** Bytes of a payload that Postgres accepts, and of the sender's name before a message. */
const PAYLOAD = { max: 7_999, sender: 64 }
/** Delays before reconnecting, with jitter: several servers lose their connections at once. */
const RECONNECT = { first: 250, longest: 2_000, jitter: 0.5 }

const isTopic = (text: string | undefined): text is Topic => text === 'feed' || text === 'room' || text === 'access'

/** Notifications per payload: about 50 bytes each of at most 8,000. */
const PAYLOAD_SIZE = 150

function notifyStatements(notifications: readonly Notification[]): string[] {
  const statements: string[] = []
  for (let first = 0; first < notifications.length; first += PAYLOAD_SIZE) {
    const words = notifications
      .slice(first, first + PAYLOAD_SIZE)
      .map(({ topic, id, head }) => `${topic} ${id} ${head}`)
    statements.push(`notify ${CHANNEL}, '${words.join(',')}'`)
  }
  return statements
}

/** Parses a payload. Every user of the database can send one, so invalid ones are skipped. */
const readNotification = (payload: string): Notification[] =>
  payload.split(',').flatMap((text) => {
    const [topic, ...numbers] = text.split(' ')
    const [id, head] = numbers.map(Number)
    return isTopic(topic) && Number.isSafeInteger(id) && Number.isSafeInteger(head)
      ? [{ topic, id: id!, head: head! }]
      : []
  })

/** Runs NOTIFY statements in a transaction that need not wait for the disk. */
const sendAll = (exec: (statements: string) => Promise<unknown>, statements: readonly string[]): Promise<unknown> =>
  exec(['begin', 'set local synchronous_commit = off', ...statements, 'commit'].join(';'))

/**
 * Sends notifications to other processes in transactions of their own: Postgres commits those with a NOTIFY one after the
 * other (PostgreSQL source, `PreCommit_Notify`).
 */
export function makePostgresNotifier(exec: (statements: string) => Promise<unknown>) {
  let waiting: Notification[] = []
  let sending: Promise<void> | undefined

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const statements = notifyStatements(waiting)
      waiting = []
      await sendAll(exec, statements).catch(() => undefined)
    }
    sending = undefined
  }

  return {
    send(notifications: readonly Notification[]): void {
      waiting.push(...notifications)
      if (waiting.length > 0) sending ??= send()
    },
    idle: async (): Promise<void> => sending,
  }
}

type PeerListener = Parameters<Peers['listen']>[0]

/** Messages between processes. `self` is the name of this one, without spaces. */
export function makePostgresPeers(
  self: string,
  exec: (statements: string) => Promise<unknown>,
  begin: () => void,
): Peers & { receive: PeerListener } {
  const listeners: PeerListener[] = []
  return {
    maxBytes: PAYLOAD.max - PAYLOAD.sender - 1,
    send: (message) => sendAll(exec, [`notify ${PEERS}, ${pg.escapeLiteral(`${self} ${message}`)}`]),
    listen(listener) {
      listeners.push(listener)
      begin()
    },
    receive(from, message) {
      if (from !== self) for (const listener of listeners) listener(from, message)
    },
  }
}

/** Listens to other processes after `begin`, and reconnects. */
export function makePostgresListener(
  config: pg.ClientConfig,
  hosts: PostgresHosts,
  { publish, missed, receive }: Pick<Notifications, 'publish' | 'missed'> & { receive: PeerListener },
) {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  const backoff = makeBackoff(RECONNECT)
  let hasBegun = false
  let isClosed = false
  let isListening = false

  function heard({ channel, payload = '' }: pg.Notification): void {
    if (channel === CHANNEL) return publish(readNotification(payload))
    const space = payload.indexOf(' ')
    if (space > 0 && space <= PAYLOAD.sender) receive(payload.slice(0, space), payload.slice(space + 1))
  }

  /** A connection to the primary that listens; a standby refuses LISTEN. */
  async function connect(): Promise<pg.Client> {
    if (isClosed) throw new Error('Closed.')
    const made = new hosts.Client(config)
    client = made
    made.on('error', () => undefined)
    made.on('notification', heard)
    try {
      await made.connect()
      await made.query(`listen ${CHANNEL}; listen ${PEERS}`)
      return made
    } catch (error) {
      made.end().catch(() => undefined)
      throw error
    }
  }

  function start(): void {
    const listening = (made: pg.Client) => {
      isListening = true
      made.once('end', again)
      backoff.reset()
      // Notifications sent in the meantime are lost.
      missed()
    }
    hosts.connect(connect).then(listening).catch(again)
  }

  function again(): void {
    client = undefined
    isListening = false
    if (!isClosed) timer = setTimeout(start, backoff.next()).unref()
  }

  return {
    /** Starts listening; further calls do nothing. */
    begin(): void {
      if (hasBegun || isClosed) return
      hasBegun = true
      start()
    },
    isListening: () => isListening,
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      // Ending a connection that is being established may throw.
      await client?.end().catch(() => undefined)
    },
  }
}
