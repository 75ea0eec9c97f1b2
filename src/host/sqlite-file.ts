import { fromSystemError } from '../base/errors.ts'
import { assertUsable } from './regular-file.ts'
import { assertDurable, openEngine, type SqliteStatement } from './sqlite-engine.ts'

type Value = string | number | bigint | null

/** A small database in one file, for one program: plain SQL, synchronous, every commit durable. */
export interface SqliteFile {
  all<R>(sql: string, ...values: Value[]): R[]
  /** Like `all`, but lazy; no other query may run before the last row is read. */
  each<R>(sql: string, ...values: Value[]): Iterable<R>
  get<R>(sql: string, ...values: Value[]): R | undefined
  run(sql: string, ...values: Value[]): void
  /** Runs several statements without parameters, such as a schema. */
  script(sql: string): void
  /** Commits the writes of `work` durably, or rolls all of them back. */
  transaction<T>(work: () => T): T
  close(): void
}

/** How long a statement waits for another writing process, in milliseconds. */
const PATIENCE = 5_000

/** Opens or creates a database file. Throws if it is damaged, or if commits would not be durable. */
export function openSqliteFile(file: string): SqliteFile {
  assertUsable(file)
  const handle = openEngine(file, PATIENCE)
  const statements = new Map<string, SqliteStatement>()

  function statement(sql: string): SqliteStatement {
    let found = statements.get(sql)
    if (!found) statements.set(sql, (found = handle.prepare(sql)))
    return found
  }

  function convertDiskFull<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw fromSystemError(error, file)
    }
  }

  try {
    assertDurable(handle)
  } catch (error) {
    handle.close()
    throw error
  }
  return {
    all: <R>(sql: string, ...values: Value[]) => statement(sql).all(values) as R[],
    each: <R>(sql: string, ...values: Value[]) => statement(sql).iterate(values) as Iterable<R>,
    get: <R>(sql: string, ...values: Value[]) => statement(sql).get(values) as R | undefined,
    run: (sql, ...values) => void convertDiskFull(() => statement(sql).run(values)),
    script: (sql) => void convertDiskFull(() => handle.exec(sql)),
    transaction: <T>(work: () => T) => convertDiskFull(() => handle.transaction(work).immediate()),
    close() {
      statements.clear()
      handle.close()
    },
  }
}
