import { fromSystemError } from '../base/errors.ts'
import { assertDurable, openEngine, type SqliteStatement } from './sqlite-engine.ts'

type Value = string | number | bigint | null

/** A small database of one program in one file: plain SQL, synchronous, every commit durable. */
export interface SqliteFile {
  all<R>(sql: string, ...values: Value[]): R[]
  /** As `all`, one row after another; until the last was asked for, nothing else can be asked. */
  each<R>(sql: string, ...values: Value[]): Iterable<R>
  get<R>(sql: string, ...values: Value[]): R | undefined
  run(sql: string, ...values: Value[]): void
  /** Runs several statements without values, for example a schema. */
  script(sql: string): void
  /** All of `work` is kept, durably, or nothing of it. */
  transaction<T>(work: () => T): T
  close(): void
}

/** Does what writes; a full disk is told as `DiskFull`. */
function told<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw fromSystemError(error)
  }
}

/** How long a statement waits for another process that writes, in milliseconds. */
const PATIENCE = 5_000

/** Opens (and creates) a database file. Throws when it is damaged, or when a commit would not be durable. */
export function openSqliteFile(file: string): SqliteFile {
  const handle = openEngine(file, PATIENCE)
  const statements = new Map<string, SqliteStatement>()

  function statement(sql: string): SqliteStatement {
    let found = statements.get(sql)
    if (!found) statements.set(sql, (found = handle.prepare(sql)))
    return found
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
    run: (sql, ...values) => void told(() => statement(sql).run(values)),
    script: (sql) => void handle.exec(sql),
    transaction: <T>(work: () => T) => told(() => handle.transaction(work).immediate()),
    close() {
      statements.clear()
      handle.close()
    },
  }
}
