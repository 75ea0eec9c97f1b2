import type { Compilable, CompiledQuery, Kysely, RawBuilder } from 'kysely'
import type { DatabaseMoved } from '../../base/errors.ts'
import type { DataBound, DataKind } from './data-kinds.ts'
import type { Tables } from './tables.ts'

export type Engine = 'sqlite' | 'postgres'

/** Runs queries on committed state, a snapshot, or a transaction. */
export interface Reader {
  /** The dialect that queries are compiled to. */
  readonly engine: Engine
  readonly q: Kysely<Tables>
  run<R>(query: CompiledQuery<R>): Promise<R[]>
}

/**
 * Topics of notifications: the feed of an account, a chat room, and `access`: devices or sessions of an account have
 * ended (`head` has no meaning).
 */
export type Topic = 'feed' | 'room' | 'access'

/** A write transaction. Only `Database.write` creates one, so nothing can be written outside a transaction. */
export interface Writer extends Reader {
  /** Runs `part` in a savepoint: if it throws, only the part is rolled back. */
  attempt<T>(part: () => Promise<T>): Promise<T>
  /** Notifies listeners on commit that `id` has advanced to `head`; a rollback drops it. */
  notify(topic: Topic, id: number, head: number): void
  /** Limits of accounts by kind, where there are any. */
  readonly bounds?: () => Promise<Partial<Record<DataKind, DataBound>>>
}

export interface Listener {
  moved(id: number, head: number): void
  /** Notifications may have been lost: read the rows. */
  missed(): void
}

/** Differences between the DDL of SQLite and Postgres. */
export interface SchemaDialect {
  /** Auto-increment primary key that never reuses a value. */
  id: RawBuilder<unknown>
  /** 64-bit integer. */
  integer: RawBuilder<unknown>
  real: RawBuilder<unknown>
  /** Text compared byte by byte. */
  text: RawBuilder<unknown>
  bytes: RawBuilder<unknown>
  /** Options after the closing parenthesis of a table. */
  strict: RawBuilder<unknown>
  /** Options of a table stored in primary-key order, if the engine supports it. */
  clustered: RawBuilder<unknown>
  /** Statements that create a row trigger; `body` is one statement that uses `new` or `old`. */
  trigger(at: { name: string; when: string }, body: RawBuilder<unknown>): RawBuilder<unknown>[]
}

export interface CopyOptions {
  without: readonly (keyof Tables)[]
  progress?: (done: number, total: number) => void
}

/** Damage that an engine reports. */
export interface Damage {
  text: string
  /** Tables of a broken foreign key; undefined for damage to the file itself. */
  reference?: { from: string; to: string }
}

/** Tracks whether anyone else wrote since `watch()`. */
export interface ChangeWatch {
  /** Like `Database.write`, without counting as a change. */
  write: Database['write']
  /**
   * The name of the current state, as `Database.state` returns it from then on, if only `write` of this watch has
   * written since it began, in any process; otherwise undefined.
   */
  settle(): Promise<string | undefined>
}

/** Accounts and rooms that a unit of work writes for. */
export interface OwnerScope {
  accounts?: readonly number[]
  rooms?: readonly number[]
  /** Rooms, also named in `rooms`; the feeds of their members are written, unless they take the changes over later. */
  memberFeeds?: readonly number[]
  /** What accounts share, by name: SHA-256 of contents, user names of logins. */
  keys?: readonly string[]
}

/**
 * What a unit of work writes; `instance` for everything. It may read anything, but only what it writes cannot change before
 * its commit.
 */
export type WriteScope = OwnerScope | 'instance'

/** What this process has done on its database since it opened it. */
export interface DatabaseActivity {
  commits: number
  /** Time in commits, until they were durable; seconds. */
  commitSeconds: number
  /** Time until transactions could begin: others held their locks, or the connection had to be made; seconds. */
  beginSeconds: number
  /** Transactions that could not begin or commit. */
  failures: number
  /** Connections for reading, where there are any. */
  connections?: { open: number; idle: number; awaited: number }
  /** Whether notifications of other processes arrive; undefined where there is nothing to listen to. */
  isListening?: boolean
}

/** Messages between the processes that have a database open. They may be lost, and anyone who may connect can send some. */
export interface Peers {
  /** Most bytes of a message. */
  readonly maxBytes: number
  /** Sends to all other processes that listen. */
  send(message: string): Promise<unknown>
  listen(listener: (from: string, message: string) => void): void
}

export interface Database {
  /** Committed state, one statement at a time. */
  readonly read: Reader
  readonly dialect: SchemaDialect
  /**
   * Runs `unit` in a transaction that is durable before the promise resolves. Waiting units may share one commit, each
   * in its own savepoint: a unit that throws is rolled back alone. No file or network I/O inside. Throws `Busy` if
   * another process holds the write lock too long, and `DiskFull` if the disk is full. On Postgres, units whose scopes
   * have nothing in common run at the same time, in all processes; one for the instance runs alone, and any other may run
   * again from its start, so it has no effects outside its transaction.
   */
  write<T>(scope: WriteScope, unit: (tx: Writer) => Promise<T>): Promise<T>
  /** Notifications of this process and, on Postgres, of others. They may be lost: poll the rows too. */
  listen(topic: Topic, listener: Listener): void
  /** Other processes, where several can serve one database. */
  readonly peers?: Peers
  /** Runs `unit` on one consistent state, however long it takes. */
  snapshot<T>(unit: (at: Reader) => Promise<T>): Promise<T>
  /**
   * Writes one consistent state to a new SQLite file, whatever the engine: the format of databases in backups. It
   * contains everything acknowledged before the call and no partial transaction; writers neither wait nor make it start
   * over. The tables in `without` are empty, and no byte of their rows is left. The schema is that of the applied
   * migrations and the synchronised tables. An unchanged row is in the same page as in the previous copy: SQLite copies
   * pages; Postgres writes the rows of one snapshot table by table in key order. The file is not flushed. `progress`
   * receives the bytes done and due.
   */
  copyTo(file: string, options: CopyOptions): Promise<void>
  /**
   * The name of the committed state. Different states never have the same name, whichever program wrote them; undefined
   * if no name is known, which is always allowed.
   */
  state(): Promise<string | undefined>
  watch(): ChangeWatch
  /** Damage found by the engine, at most about a hundred items; `quick` does not compare indexes with their tables. */
  damage(quick: boolean): Promise<Damage[]>
  /**
   * Lets the query planner of Postgres know how many rows there are, before queries over whole tables: it has no statistics after a
   * move or an upgrade of Postgres, and joins tables row by row then.
   */
  refreshStatistics(): Promise<void>
  /** Returns free space to the disk; blocks other writers until it is done. Returns the bytes before and after. */
  vacuum(): Promise<{ before: number; after: number }>
  /**
   * Calls `listener` when the database files are missing or replaced; from then on everything throws `DatabaseMoved`.
   * Calls it with undefined when they are back. Only for engines with local files.
   */
  onMoved(listener: (moved: DatabaseMoved | undefined) => void): void
  /**
   * Calls `listener` when the engine no longer knows what is stored, for example after a failed flush. Writes are
   * impossible then, and the process must exit.
   */
  onFailure(listener: (failure: Error) => void): void
  /** Throws if the engine does not respond, or has not accepted writes for longer than a writer waits. */
  check(): Promise<void>
  /** The clock of the machine that the database is on, epoch ms; undefined for this machine. */
  clock(): Promise<number | undefined>
  /** For monitoring. */
  activity(): DatabaseActivity
  /** Facts for `doctor`: engine, version, settings that affect durability. */
  describe(): Promise<Record<string, string>>
  close(): Promise<void>
}

type Values = Record<string, unknown>

/** Stands for a value while a query is compiled; `row` is the index in a statement for several rows. */
class Placeholder {
  readonly name: string
  readonly row: number
  constructor(name: string, row: number) {
    this.name = name
    this.row = row
  }
}

const placeholdersOf = <V extends Values>(row: number): V =>
  new Proxy({}, { get: (_, name) => new Placeholder(String(name), row) }) as V

/** The parameters of a compiled query, in the order of the statement. */
const filled = <R>(compiled: CompiledQuery<R>, rows: readonly Values[]): CompiledQuery<R> => ({
  ...compiled,
  parameters: compiled.parameters.map((value) => (value instanceof Placeholder ? rows[value.row]![value.name] : value)),
})

/**
 * A query compiled once and run with different values, several times faster than compiling it each time. `build` gets a
 * placeholder for every value: `prepared<{ id: number }, Row>(({ q, p }) => q.selectFrom(…).where('id', '=', p.id))`.
 * Values that a partial index names are literals (`sql.lit(1)`): SQLite would plan the query anew for each value.
 */
export function prepared<V extends Values, R>(
  build: (parts: { q: Kysely<Tables>; p: V }) => Compilable<R>,
): (on: Reader, values: V) => Promise<R[]> {
  const byEngine: Partial<Record<Engine, CompiledQuery<R>>> = {}
  return (on, values) => {
    const compiled = (byEngine[on.engine] ??= build({ q: on.q, p: placeholdersOf<V>(0) }).compile())
    return on.run(filled(compiled, [values]))
  }
}

/** Most rows of one statement; more are not faster. */
const LARGEST = 64

/** Like `prepared` for many rows: `build` gets placeholders for each. Compiled for a few sizes. */
export function preparedRows<V extends Values, R>(
  build: (parts: { q: Kysely<Tables>; rows: V[] }) => Compilable<R>,
): (on: Reader, rows: readonly V[]) => Promise<R[]> {
  const sizes: Record<Engine, Map<number, CompiledQuery<R>>> = { sqlite: new Map(), postgres: new Map() }
  return async (on, rows) => {
    const bySize = sizes[on.engine]
    const answers: R[] = []
    for (let start = 0; start < rows.length;) {
      const size = 2 ** Math.floor(Math.log2(Math.min(rows.length - start, LARGEST)))
      let compiled = bySize.get(size)
      if (!compiled) {
        compiled = build({ q: on.q, rows: Array.from({ length: size }, (_, row) => placeholdersOf<V>(row)) }).compile()
        bySize.set(size, compiled)
      }
      answers.push(...(await on.run(filled(compiled, rows.slice(start, start + size)))))
      start += size
    }
    return answers
  }
}

/** The only row of a result, or undefined. */
export const first = async <R>(rows: Promise<R[]>): Promise<R | undefined> => (await rows)[0]
