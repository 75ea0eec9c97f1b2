import type pg from 'pg'
import { Busy, errorCode } from '../../base/errors.ts'
import { countTransactions } from './activity.ts'
import type { DatabaseActivity } from './database.ts'
import type { Transaction } from './group-commit.ts'
import type { BareWriter, Notifications } from './notifications.ts'
import type { ConnectionCheck } from './postgres-connection-check.ts'
import { PostgresConnection } from './postgres-connections.ts'
import { fromPostgresError, isConflict, isHeld, isStale } from './postgres-errors.ts'
import type { PostgresHosts } from './postgres-hosts.ts'
import type { LivenessCheck } from './postgres-liveness.ts'
import { beginStatements, sharedLockStatements } from './postgres-scopes.ts'
import { makeLanes } from './write-lanes.ts'

/** Connections of one process for units with a scope; the others share one. */
const LANES = 4
/** How long a server that hangs in a transaction blocks the others. */
const HANG_LIMIT_MS = 30_000
/** How long a unit waits for locks that were known to be held; ms. */
const BRIEF_MS = 250
/** SQLSTATE of a write in a read-only transaction. */
const READ_ONLY = '25006'

const unconfirmed = () => new Busy('The database does not confirm what is written. Try again in a moment.')

interface Parts {
  read: PostgresConnection
  config: pg.ClientConfig
  hosts: PostgresHosts
  check: ConnectionCheck
  liveness: LivenessCheck
  /** How long a transaction waits for a lock; ms. */
  patience: number
  /** How long a commit may take; ms. */
  commitPatience: number
  /** Whether one that takes longer and waits for no standby is waited for: it may check references of many rows. */
  isUnhurried?: boolean
  activity: DatabaseActivity
}

/** A connection that writes; `connect` replaces a lost one. */
function makeWriterConnection({ config, hosts, check, liveness, patience }: Parts) {
  let client: pg.Client | undefined
  /** Whether a transaction is open that can still be committed; a lost connection has none. */
  let isOpen = false

  const asking = new PostgresConnection(async (query) => {
    if (!client) throw fromPostgresError(new Error('Connection terminated'))
    try {
      return await liveness.watch(client, query)
    } catch (error) {
      // The next connection may reach a server that accepts writes again, and has no prepared statements yet.
      if (errorCode(error) === READ_ONLY || isStale(error)) discard()
      throw fromPostgresError(error)
    }
  })

  /** Closes a connection in an unknown state; the server rolls back its transaction. */
  function discard(): void {
    const broken = client
    client = undefined
    isOpen = false
    broken?.end().catch(() => undefined)
  }

  return {
    asking,
    discard,
    isConnected: () => client !== undefined,
    waitsForStandby: async () => client !== undefined && liveness.waitsForStandby(client),
    isOpen: () => isOpen,
    opened: () => void (isOpen = true),
    ended: () => void (isOpen = false),

    connect: () =>
      hosts.connect(async () => {
        const made = new hosts.Client(config)
        const lost = () => {
          if (client !== made) return
          client = undefined
          isOpen = false
        }
        made.on('error', lost)
        made.on('end', lost)
        try {
          await made.connect()
          // Durability must not depend on the server's defaults.
          await liveness.watch(made, {
            text: `set synchronous_commit = on; set lock_timeout = ${patience};
             set idle_in_transaction_session_timeout = ${HANG_LIMIT_MS}`,
          })
          await check.assertUsable(made)
          client = made
        } catch (error) {
          made.end().catch(() => undefined)
          throw fromPostgresError(error)
        }
      }),

    close: async () => client?.end(),
  }
}

/** Write transactions, one at a time on a connection of their own. */
function makeWriting(parts: Parts) {
  const connection = makeWriterConnection(parts)
  const { asking, discard, isOpen } = connection

  const writer: BareWriter = {
    engine: asking.engine,
    q: asking.q,
    run: (query) => asking.run(query),
    async attempt(part) {
      await asking.exec('savepoint part')
      try {
        const value = await part()
        await asking.exec('release part')
        return value
      } catch (error) {
        if (isOpen()) await asking.exec('rollback to part; release part')
        throw error
      }
    },
  }

  const rollback = () => asking.exec('rollback').then(connection.ended, discard)
  const begin = async (statements: string) => {
    if (!connection.isConnected()) await connection.connect()
    await asking.exec(statements).catch(async (error: unknown) => {
      // The lock timeout expired.
      if (connection.isConnected()) await rollback()
      throw error
    })
  }

  /** Whether a commit is under way, perhaps one that nobody waits for any more. */
  let isCommitting = false
  /**
   * The result of a commit. A commit that waits for a standby has no other limit. It is left alone then, and no other begins before
   * it ends: its backend would keep its locks and its connection slot even if it were closed.
   */
  async function withinPatience(committed: Promise<string>): Promise<string> {
    const isOver = async () => !parts.isUnhurried || (await connection.waitsForStandby())
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<never>((_, reject) => {
      const look = async () => {
        if (await isOver()) reject(unconfirmed())
        else if (isCommitting) wait()
      }
      const wait = () => void (timer = setTimeout(() => void look(), parts.commitPatience))
      wait()
    })
    try {
      return await Promise.race([committed, limit])
    } finally {
      clearTimeout(timer)
    }
  }

  const transaction: Transaction = {
    writer,
    async begin(scopes, isBrief = false) {
      if (isCommitting) throw unconfirmed()
      const wasConnected = connection.isConnected()
      const [first, ...locks] = beginStatements(scopes)
      const statements = [first, ...(isBrief ? [`set local lock_timeout = ${BRIEF_MS}`] : []), ...locks].join(';')
      try {
        await begin(statements)
      } catch (error) {
        if (!wasConnected || connection.isConnected()) throw error
        // The connection was lost since the last transaction.
        await begin(statements)
      }
      connection.opened()
    },
    isOpen,
    async commit() {
      isCommitting = true
      const committed = asking
        .exec('commit')
        .catch((error: unknown) => {
          // The connection may be in any state.
          discard()
          throw error
        })
        .finally(() => (isCommitting = false))
      const tag = await withinPatience(committed).finally(connection.ended)
      // COMMIT of a transaction with a failed statement rolls back without an error (PostgreSQL documentation, COMMIT).
      if (tag !== 'COMMIT') throw new Error(`Postgres answered COMMIT with ${tag}: nothing was kept.`)
    },
    rollback,
    fromEngineError: fromPostgresError,
    isConflict,
    isHeld,
  }
  return { transaction: countTransactions(transaction, parts.activity), close: connection.close }
}

/** The write transactions of this process. `publish` gets the notifications of each commit. */
export function makeWriters(parts: Parts, publish: Notifications['publish']) {
  const alone = makeWriting({ ...parts, isUnhurried: true })
  const scoped = Array.from({ length: LANES }, () => makeWriting(parts))
  const lanes = makeLanes(
    alone.transaction,
    scoped.map(({ transaction }) => transaction),
    publish,
  )
  return {
    ...lanes,
    /** Throws if no unit could begin. Not in a lane, where it could wait for the locks of an account. */
    check: async (): Promise<void> => void (await parts.read.exec(sharedLockStatements(parts.patience))),
    close: async (): Promise<void> => void (await Promise.all([alone, ...scoped].map((writing) => writing.close()))),
  }
}
