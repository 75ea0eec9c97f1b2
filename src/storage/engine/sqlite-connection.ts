import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type LimitNode,
  type QueryResult,
} from 'kysely'
import { Busy, fromSystemError } from '../../base/errors.ts'
import { openEngine, type SqliteHandle, type SqliteStatement } from '../../host/sqlite-engine.ts'
import { driverOf } from './driver.ts'
import type { BareWriter } from './notifications.ts'
import type { Tables } from './tables.ts'

/** How long a writer waits for the lock of another process. */
const LOCK_TIMEOUT_MS = 10_000
/** How long one attempt blocks the event loop. */
export const LOCK_ATTEMPT_MS = 250
const CACHED_STATEMENTS = 512

/** Opens a database file whose commits are durable before they are visible. */
export function openHandle(file: string, options?: { fileMustExist: boolean }): SqliteHandle {
  const handle = openEngine(file, LOCK_ATTEMPT_MS, options)
  handle.pragma('foreign_keys = ON')
  handle.pragma('secure_delete = FAST')
  // Otherwise savepoints and sorting use temporary files.
  handle.pragma('temp_store = MEMORY')
  return handle
}

/** Result of `pragma wal_checkpoint`: pages in the log, and how many of them are in the database file. */
export interface CheckpointProgress {
  log: number
  checkpointed: number
}

interface QueryHooks {
  /** Runs before a query; if it throws, the query is not run. */
  before?: () => void
  /** Runs after rows were read, before they are returned. */
  after?: () => void
}

/** A handle with its prepared statements, for Kysely. */
export class Connection implements DatabaseConnection, BareWriter {
  readonly engine = 'sqlite'
  readonly handle: SqliteHandle
  readonly q: Kysely<Tables>
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #hooks: QueryHooks

  constructor(handle: SqliteHandle, hooks: QueryHooks = {}) {
    this.handle = handle
    this.#hooks = hooks
    this.q = new Kysely<Tables>({ dialect: dialectFor(this) })
  }

  #prepare(text: string): SqliteStatement {
    this.#hooks.before?.()
    let statement = this.#statements.get(text)
    if (statement) return statement
    statement = this.handle.prepare(text)
    this.#statements.set(text, statement)
    if (this.#statements.size > CACHED_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value!)
    return statement
  }

  #rows<R>(statement: SqliteStatement, { parameters }: CompiledQuery): R[] {
    const rows = statement.all(parameters) as R[]
    this.#hooks.after?.()
    return rows
  }

  run<R>(query: CompiledQuery<R>): Promise<R[]> {
    try {
      const statement = this.#prepare(query.sql)
      if (statement.reader) return Promise.resolve(this.#rows<R>(statement, query))
      statement.run(query.parameters)
      return Promise.resolve([])
    } catch (error) {
      return Promise.reject(fromSystemError(error, this.handle.name) as Error)
    }
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const statement = this.#prepare(query.sql)
      if (statement.reader) return Promise.resolve({ rows: this.#rows<R>(statement, query) })
      const { changes, lastInsertRowid } = statement.run(query.parameters)
      return Promise.resolve({ rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) })
    } catch (error) {
      return Promise.reject(fromSystemError(error, this.handle.name) as Error)
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    this.#hooks.before?.()
    // Uses a separate statement: an iteration in progress would block the cached one.
    for (const row of this.handle.prepare(query.sql).iterate(query.parameters)) yield { rows: [row as R] }
  }

  /** Runs a statement without parameters or rows, such as `commit`. */
  exec(text: string): void {
    this.#prepare(text).run()
  }

  /** Starts reading the current state until `unpin`. */
  pin(): void {
    this.exec('begin')
    // A read transaction begins with its first page.
    this.#prepare('select 1 from sqlite_master limit 1').get()
  }

  unpin(): void {
    this.exec('commit')
  }

  /** A number that changes with every commit of another connection, in any process, and only then. */
  dataVersion(): number {
    return this.#prepare('pragma data_version').pluck().get() as number
  }

  /** Progress of the checkpoint; changes nothing. */
  checkpointProgress(): CheckpointProgress {
    return this.#prepare('pragma wal_checkpoint(noop)').get() as CheckpointProgress
  }

  async attempt<T>(part: () => Promise<T>): Promise<T> {
    this.exec('savepoint part')
    try {
      const value = await part()
      this.exec('release part')
      return value
    } catch (error) {
      // SQLite rolls back the whole transaction when the disk is full.
      if (this.handle.inTransaction) {
        this.exec('rollback to part')
        this.exec('release part')
      }
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    this.handle.close()
  }
}

/**
 * Compiles `limit 0 + ?`. Since 3.48, SQLite prepares a statement with `limit ?` again each time it runs with other
 * values, because the plan may depend on that number (`sqlite3ExprIsInteger`); that takes five times as long as a short query.
 */
class LimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit 0 + ')
    this.visitNode(node.limit)
  }
}

const dialectFor = (connection: Connection): Dialect => ({
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new LimitCompiler(),
  createDriver: () => driverOf(connection),
})

export const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')

/** Runs a statement that needs the write lock. Throws `Busy` if that takes too long. */
export async function execLocked(writer: Connection, statement: string): Promise<void> {
  const deadline = Date.now() + LOCK_TIMEOUT_MS
  for (;;) {
    try {
      writer.exec(statement)
      return
    } catch (error) {
      if (!isBusy(error)) throw error
      if (Date.now() > deadline) throw new Busy('Another process holds the database.', { cause: error })
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}
