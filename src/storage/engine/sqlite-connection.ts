import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
} from 'kysely'
import { Busy, recognise } from '../../base/trouble.ts'
import { openEngine, type SqliteHandle, type SqliteStatement } from '../../host/sqlite-engine.ts'
import { driverOf } from './driver.ts'
import type { BareWriter } from './notifications.ts'
import type { Tables } from './tables.ts'

/** How long a writer waits for the lock of another process before it gives up. */
const LOCK_TIMEOUT_MS = 10_000
/** How long one attempt blocks the event loop. */
export const LOCK_ATTEMPT_MS = 250
const CACHED_STATEMENTS = 512

/** Opens a database file, whose commits are durable before anybody sees them. */
export function openHandle(file: string, options?: { fileMustExist: boolean }): SqliteHandle {
  const handle = openEngine(file, LOCK_ATTEMPT_MS, options)
  handle.pragma('foreign_keys = ON')
  handle.pragma('secure_delete = FAST')
  // Savepoints and sorting would spill into temporary files.
  handle.pragma('temp_store = MEMORY')
  return handle
}

/** One handle with its compiled statements, as Kysely wants to see it. */
export class Connection implements DatabaseConnection, BareWriter {
  readonly engine = 'sqlite'
  readonly handle: SqliteHandle
  readonly q: Kysely<Tables>
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #beforeQuery: () => void

  /** `beforeQuery` may throw, and the query is not run. */
  constructor(handle: SqliteHandle, beforeQuery: () => void = () => undefined) {
    this.handle = handle
    this.#beforeQuery = beforeQuery
    this.q = new Kysely<Tables>({ dialect: dialectFor(this) })
  }

  #prepare(text: string): SqliteStatement {
    this.#beforeQuery()
    let statement = this.#statements.get(text)
    if (statement) return statement
    statement = this.handle.prepare(text)
    this.#statements.set(text, statement)
    if (this.#statements.size > CACHED_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value!)
    return statement
  }

  run<R>(query: CompiledQuery<R>): Promise<R[]> {
    try {
      const statement = this.#prepare(query.sql)
      if (statement.reader) return Promise.resolve(statement.all(query.parameters) as R[])
      statement.run(query.parameters)
      return Promise.resolve([])
    } catch (error) {
      return Promise.reject(recognise(error) as Error)
    }
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const statement = this.#prepare(query.sql)
      if (statement.reader) return Promise.resolve({ rows: statement.all(query.parameters) as R[] })
      const { changes, lastInsertRowid } = statement.run(query.parameters)
      return Promise.resolve({ rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) })
    } catch (error) {
      return Promise.reject(recognise(error) as Error)
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    this.#beforeQuery()
    // A statement of its own: an iteration in progress would block the cached one for everybody else.
    for (const row of this.handle.prepare(query.sql).iterate(query.parameters)) yield { rows: [row as R] }
  }

  /** A statement without parameters or rows, such as `commit`. */
  exec(text: string): void {
    this.#prepare(text).run()
  }

  async attempt<T>(part: () => Promise<T>): Promise<T> {
    this.exec('savepoint part')
    try {
      const value = await part()
      this.exec('release part')
      return value
    } catch (error) {
      // SQLite undoes the whole transaction by itself when the disk is full.
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

const dialectFor = (connection: Connection): Dialect => ({
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createDriver: () => driverOf(connection),
})

export const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')

/** Runs a statement that needs the lock of all writers, waiting for it. Throws `Busy` when it takes too long. */
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
