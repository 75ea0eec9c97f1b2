import pg from 'pg'
import { startPatroni } from '../../support/patroni.ts'
import { databaseAt, startPostgres } from '../../support/postgres.ts'
import type { Random } from '../../support/random.ts'

/** The database server under the servers: one Postgres, or two that Patroni manages. */
export interface HistoryDatabase {
  /** All hosts, `host:port`. */
  hosts: readonly string[]
  /** The address of a database for the test itself; it is created if necessary. */
  database(name: string): Promise<string>
  /** Ends all connections of a database. */
  terminate(name: string): Promise<void>
  crash(): Promise<void>
  /** Makes another host the primary. */
  failOver(random: Random): Promise<void>
  stop(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function terminateAt(url: string, name: string): Promise<void> {
  const client = new pg.Client(`${url}/postgres`)
  await client.connect()
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  await client.end()
}

export async function onePostgres(): Promise<HistoryDatabase> {
  const cluster = await startPostgres()
  return {
    hosts: [new URL(cluster.url).host],
    database: (name) => cluster.database(name),
    terminate: (name) => terminateAt(cluster.url, name),
    async crash() {
      await cluster.crash()
      await cluster.start()
    },
    failOver: () => Promise.reject(new Error('There is only one server of Postgres.')),
    stop: () => cluster.stop(),
  }
}

export async function patroniPair(): Promise<HistoryDatabase> {
  const cluster = await startPatroni(2)
  const url = async () => `postgres://svc@${(await cluster.healthy()).host}`
  return {
    hosts: cluster.nodes.map(({ host }) => host),
    database: async (name) => databaseAt(await url(), name),
    terminate: async (name) => terminateAt(await url(), name),
    // Patroni starts it again, or makes the standby the primary.
    crash: async () => (await cluster.healthy()).killPostgres(),
    async failOver(random) {
      if (random.below(2) === 0) return cluster.switchover()
      const node = await cluster.healthy()
      await node.freeze()
      await pause(8_000 + random.below(4_000))
      await node.thaw()
    },
    stop: () => cluster.stop(),
  }
}
