import pg from 'pg'
import { errorCode } from '../../base/errors.ts'
import type { PostgresHosts } from './postgres-hosts.ts'

// A machine or a network can fail silently. TCP then retransmits for a quarter of an hour before it reports an error,
// and a statement timeout would also end long queries of a busy server. So a second connection asks the server about a
// query that takes long.

/** Duration after which the server is asked about a query. */
const SILENCE_MS = 3_000
/** How long the server may take to answer about it. */
const ANSWER_MS = 3_000

interface Pending {
  client: pg.ClientBase
  since: number
  /** The server does not work on it: the response is under way, or lost. */
  isSuspect: boolean
}

/** `working`: the server executes a query for this connection. `idle`: it does not, or does not know the connection. */
type Finding = 'working' | 'idle' | 'unreachable'

interface Activity {
  /** The process of the connection that asked. */
  own: number
  state: string | null
  /** What the server process waits for. */
  event: string | null
}

/** Asks over another connection to its host what the server does for this one; `isOwn` if the answer is about it. */
async function activityOf(hosts: PostgresHosts, client: pg.ClientBase): Promise<Activity & { isOwn: boolean }> {
  const config = hosts.configFor(client)
  const limit = Math.min(config.connectionTimeoutMillis ?? ANSWER_MS, ANSWER_MS)
  const other = new pg.Client({ ...config, connectionTimeoutMillis: limit, query_timeout: limit })
  other.on('error', () => undefined)
  try {
    await other.connect()
    const { rows } = await other.query<Activity>(
      `select pg_backend_pid() as own, a.state, a.wait_event as event
       from (select 1) one left join pg_stat_activity a on a.pid = $1`,
      [processIdOf(client)],
    )
    // A pooler assigns its own process IDs.
    return { ...rows[0]!, isOwn: rows[0]!.own === processIdOf(other) }
  } finally {
    other.end().catch(() => undefined)
  }
}

async function probe(hosts: PostgresHosts, client: pg.ClientBase): Promise<Finding> {
  try {
    const { state, isOwn } = await activityOf(hosts, client)
    return !isOwn || state === 'disabled' || state === 'active' ? 'working' : 'idle'
  } catch (error) {
    // An SQLSTATE proves that the server is up, even if it refuses the connection.
    return /^[0-9A-Z]{5}$/.test(errorCode(error)) ? 'working' : 'unreachable'
  }
}

const processIdOf = (client: pg.ClientBase): number => (client as unknown as { processID: number }).processID

/** Ends connections whose query the server no longer executes; the query then fails as with any lost connection. */
export function makeLivenessCheck(hosts: PostgresHosts, silence = SILENCE_MS) {
  const pending = new Set<Pending>()
  let isLooking = false

  async function examine(query: Pending): Promise<void> {
    const finding = await probe(hosts, query.client)
    if (!pending.has(query)) return
    if (finding === 'working') {
      query.since = performance.now()
      query.isSuspect = false
    } else if (finding === 'idle' && !query.isSuspect) query.isSuspect = true
    else if (finding === 'unreachable') hosts.lost(query.client)
    // With a pending query, this destroys the socket.
    else await (query.client as pg.Client).end().catch(() => undefined)
  }

  async function probeServer(): Promise<void> {
    if (isLooking) return
    isLooking = true
    const late = [...pending].filter(({ since }) => performance.now() - since > silence)
    await Promise.all(late.map(examine))
    isLooking = false
  }
  const timer = setInterval(() => void probeServer(), silence / 6).unref()

  return {
    /** Runs a query; rejects if its connection is ended. */
    async watch(client: pg.ClientBase, query: pg.QueryConfig): Promise<pg.QueryResult> {
      const entry: Pending = { client, since: performance.now(), isSuspect: false }
      pending.add(entry)
      try {
        return await client.query(query)
      } finally {
        pending.delete(entry)
      }
    },
    /** Whether the server has committed for this client, and waits for a standby; false if that cannot be found out. */
    waitsForStandby: (client: pg.ClientBase): Promise<boolean> =>
      activityOf(hosts, client).then(
        ({ isOwn, event }) => isOwn && event === 'SyncRep',
        () => false,
      ),
    close: () => clearInterval(timer),
  }
}

export type LivenessCheck = ReturnType<typeof makeLivenessCheck>
