import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import type { Reader } from './database.ts'
import { driverOf } from './driver.ts'
import type { ConnectionCheck } from './postgres-connection-check.ts'
import { fromPostgresError, isStale } from './postgres-errors.ts'
import type { PostgresHosts } from './postgres-hosts.ts'
import type { LivenessCheck } from './postgres-liveness.ts'
import type { Tables } from './tables.ts'

// Postgres connections and pools for Kysely: values are converted as SQLite returns them.

const BOOL = 16
const INT8 = 20
const NUMERIC = 1_700

/** Values as SQLite returns them: integers and sums are numbers, booleans 1 or 0. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary') {
      if (oid === INT8 || oid === NUMERIC) return Number
      if (oid === BOOL) return (text: string) => (text === 't' ? 1 : 0)
    }
    return pg.types.getTypeParser(oid, format) as (value: string) => unknown
  },
}

type Ask = (query: pg.QueryConfig) => Promise<pg.QueryResult>

/** Repeated statements stay prepared on the server, with one name per text. */
const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `svc_${names.size}`
  names.set(text, name)
  return name
}

export class PostgresConnection implements DatabaseConnection, Reader {
  readonly engine = 'postgres'
  readonly q: Kysely<Tables>
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
    this.q = new Kysely<Tables>({ dialect: dialectFor(this) })
  }

  async run<R>(query: CompiledQuery<R>): Promise<R[]> {
    const { rows } = await this.#ask({
      name: nameOf(query.sql),
      text: query.sql,
      values: query.parameters as unknown[],
      types,
    })
    return rows as R[]
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, rowCount } = await this.#ask({ text: query.sql, values: query.parameters as unknown[], types })
    return { rows: rows as R[], ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) }
  }

  streamQuery(): never {
    throw new Error('Rows are read in pages.')
  }

  /** Runs statements without parameters or rows, separated by semicolons. Returns the command tag of the last one. */
  async exec(text: string): Promise<string> {
    // `pg` declares a single result, but several statements return an array.
    const answer = (await this.#ask({ text })) as pg.QueryResult | pg.QueryResult[]
    return (Array.isArray(answer) ? answer.at(-1)! : answer).command
  }
}

function dialectFor(connection: PostgresConnection): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => {
      const all = new PostgresIntrospector(db)
      return {
        getSchemas: () => all.getSchemas(),
        getMetadata: (options) => all.getMetadata(options),
        // Other programs may have tables in other schemas of the same database.
        async getTables(options) {
          const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db)
          return (await all.getTables(options)).filter(({ schema }) => schema === rows[0]!.schema)
        },
      }
    },
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => driverOf(connection),
  }
}

/** A connection whose errors are converted by `postgres-errors.ts`. */
export const clientConnection = (client: pg.PoolClient, liveness: LivenessCheck): PostgresConnection =>
  new PostgresConnection((query) =>
    liveness.watch(client, query).catch((error: unknown) => Promise.reject(fromPostgresError(error) as Error)),
  )

/** Like `clientConnection`, with any connection of a pool per query. */
export function poolConnection(pool: pg.Pool, hosts: PostgresHosts, liveness: LivenessCheck): PostgresConnection {
  async function ask(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = await hosts.connect(() => pool.connect())
    try {
      const result = await liveness.watch(client, query)
      client.release()
      return result
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }
  return new PostgresConnection(async (query) => {
    // Every connection may have prepared it before the table changed; each that has is closed.
    for (let left = pool.options.max; ; left -= 1)
      try {
        return await ask(query)
      } catch (error) {
        if (left === 0 || !isStale(error)) throw fromPostgresError(error)
      }
  })
}

export function poolOf(config: pg.PoolConfig, hosts: PostgresHosts, check: ConnectionCheck): pg.Pool {
  // `pg` awaits the promise and passes on its error, which its types do not say.
  const onConnect: (client: pg.ClientBase) => unknown = check.assertUsable
  const pool = new pg.Pool({ ...config, Client: hosts.Client, onConnect })
  // The pool replaces a connection that is lost while idle.
  pool.on('error', () => undefined)
  // A connection lost while checked out fails its next query; without a listener the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
