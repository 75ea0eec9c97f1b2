import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
} from 'kysely'
import { Busy, recognise } from '../../base/trouble.ts'
import {
  assertDurable,
  openCopyFile,
  openEngine,
  type SqliteHandle,
  type SqliteStatement,
} from '../../host/sqlite-engine.ts'
import type { CopyOptions, Damage, Database, Reader, SchemaDialect } from './database.ts'
import { driverOf } from './driver.ts'
import { makeGroups, type Transaction } from './group-commit.ts'
import { makeNotifications, type BareWriter } from './notifications.ts'
import { guardFiles, type FileGuard } from './sqlite-guard.ts'
import { fileId, stateOf, watchOver } from './sqlite-state.ts'
import type { Tables } from './tables.ts'

// SQLite, with `sqlite-copy.ts` (copies of a database), `sqlite-state.ts` (whether one has changed) and `sqlite-guard.ts` (whether
// its files are still in their place).

/** How long a writer waits for the lock of another process before it gives up. */
const LOCK_PATIENCE_MS = 10_000
/** How long one attempt blocks the event loop. */
const LOCK_TURN_MS = 250
const CACHED_STATEMENTS = 512
const IDLE_READERS = 4
/** Pages that a copy takes at once, some 16 MiB. */
const COPY_STEP = 4_096

/** The words of SQLite. */
export const sqliteDialect: SchemaDialect = {
  id: sql`integer primary key autoincrement`,
  integer: sql`integer`,
  real: sql`real`,
  text: sql`text`,
  bytes: sql`blob`,
  strict: sql`strict`,
  clustered: sql`strict, without rowid`,
  trigger: ({ name, when }, body) => [sql`create trigger ${sql.raw(name)} ${sql.raw(when)} begin ${body}; end`],
}

function open(file: string, options?: { fileMustExist: boolean }): SqliteHandle {
  const handle = openEngine(file, LOCK_TURN_MS, options)
  handle.pragma('foreign_keys = ON')
  handle.pragma('secure_delete = FAST')
  // Savepoints and sorting would spill into temporary files.
  handle.pragma('temp_store = MEMORY')
  return handle
}

/** Copies pages from under a read transaction: what others write meanwhile neither shows nor makes it begin again. */
async function copy(reading: SqliteHandle, file: string, { without, progress }: CopyOptions): Promise<void> {
  try {
    const pageSize = reading.pragma('page_size', { simple: true }) as number
    reading.exec('begin')
    reading.prepare('select count(*) from sqlite_master').get()
    await reading.backup(file, {
      progress({ totalPages, remainingPages }) {
        progress?.((totalPages - remainingPages) * pageSize, totalPages * pageSize)
        return COPY_STEP
      },
    })
    reading.exec('commit')
  } finally {
    reading.close()
  }
  const made = openCopyFile(file)
  try {
    // One file without a companion, and nothing of what is left out in its free pages.
    made.pragma('journal_mode = DELETE')
    made.pragma('secure_delete = ON')
    for (const table of without) made.exec(`delete from ${table}`)
  } finally {
    made.close()
  }
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

const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')

/** Runs a statement that needs the lock of all writers, waiting for it. Throws `Busy` when it takes too long. */
async function execLocked(writer: Connection, statement: string): Promise<void> {
  const deadline = Date.now() + LOCK_PATIENCE_MS
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

/** How units of one group become one transaction of SQLite. */
const transactionOf = (writer: Connection, guard: FileGuard): Transaction => ({
  writer,
  async begin() {
    await execLocked(writer, 'begin immediate')
    guard.assertInPlace()
  },
  isOpen: () => writer.handle.inTransaction,
  // Throws after the commit where the files went away meanwhile: what it wrote may be gone with them.
  commit: async () => {
    writer.exec('commit')
    guard.assertInPlace()
  },
  rollback: () => Promise.resolve(writer.exec('rollback')),
  fromEngineError: recognise,
})

/** Most complaints of one kind that are told. */
const COMPLAINTS = 100

function damageOf(handle: SqliteHandle, quick: boolean): Damage[] {
  const pages = handle.pragma(`${quick ? 'quick_check' : 'integrity_check'}(${COMPLAINTS})`) as Record<string, string>[]
  const texts = pages.flatMap((row) => Object.values(row)).filter((text) => text !== 'ok')
  if (texts.length > 0) return texts.map((text) => ({ text }))
  const references = handle.prepare('select "table", rowid, parent from pragma_foreign_key_check limit ?')
  const rows = references.all(COMPLAINTS) as { table: string; rowid: number | null; parent: string }[]
  return rows.map(({ table: from, rowid, parent: to }) => ({
    text: `A row of ${from}${rowid === null ? '' : ` (${rowid})`} refers to one of ${to} that is not there.`,
    reference: { from, to },
  }))
}

async function shrink(connection: Connection): Promise<{ before: number; after: number }> {
  const pragma = (name: string) => Number(connection.handle.pragma(name, { simple: true }))
  const size = () => pragma('page_count') * pragma('page_size')
  // The new file is put together beside the old one, and may be as large: not in memory.
  connection.handle.pragma('temp_store = FILE')
  const before = size()
  await execLocked(connection, 'vacuum')
  connection.handle.pragma('wal_checkpoint(TRUNCATE)')
  return { before, after: size() }
}

/** Runs `unit` while no other connection, of this process or another, has a file open. Throws `Busy` where one has. */
export async function aloneOnSqlite<T>(file: string, unit: (at: Reader) => Promise<T>): Promise<T> {
  const connection = new Connection(open(file))
  const { handle } = connection
  try {
    // To give up the write-ahead log, a connection has to be the only one.
    handle.pragma('journal_mode = DELETE')
    connection.exec('begin exclusive')
    return await unit(connection)
  } catch (error) {
    throw isBusy(error) ? new Busy('Another process has the database open.', { cause: error }) : recognise(error)
  } finally {
    if (handle.inTransaction) connection.exec('commit')
    connection.close()
  }
}

/** `Database.state` of a file that is not open. */
export const sqliteState = stateOf

/** Another connection to the files that are guarded; never makes one. */
function connectAgain(file: string, guard: FileGuard): SqliteHandle {
  guard.assertInPlace()
  const handle = open(file, { fileMustExist: true })
  try {
    guard.assertInPlace()
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Opens (and creates) a database file. Throws when the engine or its settings would not keep an acknowledged write. */
export function openSqlite(file: string): Database {
  const found = fileId(file)
  const writer = new Connection(open(file))
  // The file that was opened, where it is sure that no other was put in its place in between.
  const opened = fileId(file) === found ? found : undefined
  assertDurable(writer.handle)
  // The log is made by the first query.
  writer.handle.prepare('select count(*) from sqlite_master').get()
  const guard = guardFiles(file)
  const connect = () => connectAgain(file, guard)
  const reader = new Connection(connect(), () => guard.assertRecentlyInPlace())
  const spare: Connection[] = []
  const notifications = makeNotifications()
  const { write, idle, units } = makeGroups(transactionOf(writer, guard), notifications)

  return {
    read: reader,
    write,
    // Other processes with this file have no way to tell; their rows are seen.
    listen: notifications.listen,
    dialect: sqliteDialect,
    async snapshot(unit) {
      guard.assertInPlace()
      const connection = spare.pop() ?? new Connection(connect())
      try {
        connection.exec('begin')
        return await unit(connection)
      } finally {
        if (connection.handle.inTransaction) connection.exec('commit')
        if (spare.length < IDLE_READERS) spare.push(connection)
        else connection.close()
      }
    },
    async copyTo(target, options) {
      try {
        await copy(connect(), target, options)
      } catch (error) {
        throw recognise(error)
      }
    },
    async state() {
      guard.assertInPlace()
      return stateOf(file)
    },
    watch: () => watchOver({ file, opened, writer: writer.handle, write, units, patience: LOCK_TURN_MS }),
    async damage(quick) {
      const connection = new Connection(connect())
      try {
        return damageOf(connection.handle, quick)
      } finally {
        connection.close()
      }
    },
    async vacuum() {
      const connection = new Connection(connect())
      try {
        return await shrink(connection)
      } catch (error) {
        throw recognise(error)
      } finally {
        connection.close()
      }
    },
    describe: () =>
      Promise.resolve({
        engine: 'SQLite',
        version: String(writer.handle.prepare('select sqlite_version()').pluck().get()),
        journal_mode: String(writer.handle.pragma('journal_mode', { simple: true })),
        synchronous: String(writer.handle.pragma('synchronous', { simple: true })),
        foreign_keys: String(writer.handle.pragma('foreign_keys', { simple: true })),
      }),
    onMoved: (listener) => guard.onChange(listener),
    async close() {
      await idle()
      for (const connection of [...spare, reader, writer]) connection.close()
    },
  }
}
