import type { Compilable, CompiledQuery, Kysely, RawBuilder } from 'kysely'
import type { DatabaseMoved } from '../../base/errors.ts'
import type { DataBound, DataKind } from './data-kinds.ts'
import type { Tables } from './tables.ts'

export type Engine = 'sqlite' | 'postgres'

/** Something queries can be asked of: committed state, one snapshot, or a transaction. */
export interface Reader {
  /** Whose dialect queries are compiled to. */
  readonly engine: Engine
  readonly q: Kysely<Tables>
  /** Runs a query compiled before. */
  run<R>(query: CompiledQuery<R>): Promise<R[]>
}

/**
 * What listeners wait for: the feed of an account, a chat room; and `access`, of which some devices or sessions of an account have
 * ended (its head means nothing).
 */
export type Topic = 'feed' | 'room' | 'access'

/** A transaction that writes. Only `Database.write` makes one, so nothing can be written outside a transaction. */
export interface Writer extends Reader {
  /** Runs `part` so that it is undone alone when it throws; the transaction goes on. */
  attempt<T>(part: () => Promise<T>): Promise<T>
  /**
   * Notifies listeners of `topic` on commit that `id` has moved on to `head`; a rollback drops it. Call it where the
   * position changes, with its new head.
   */
  notify(topic: Topic, id: number, head: number): void
  /** What accounts may keep by kind, where that is bounded. */
  readonly bounds?: () => Promise<Partial<Record<DataKind, DataBound>>>
}

/** Receives notifications. */
export interface Listener {
  moved(id: number, head: number): void
  /** Notifications may have been lost: read the rows. */
  missed(): void
}

/** The parts of the data definition language in which SQLite and Postgres differ. */
export interface SchemaDialect {
  /** Primary key that counts up and never gives a number twice. */
  id: RawBuilder<unknown>
  /** 64-bit integer. */
  integer: RawBuilder<unknown>
  real: RawBuilder<unknown>
  /** Text compared byte by byte. */
  text: RawBuilder<unknown>
  bytes: RawBuilder<unknown>
  /** What stands behind the closing parenthesis of a table. */
  strict: RawBuilder<unknown>
  /** The same for a table whose rows are kept in the order of its primary key, where the engine can. */
  clustered: RawBuilder<unknown>
  /** Statements that make a trigger for each row; `body` is one statement, with the row as `new` or `old`. */
  trigger(at: { name: string; when: string }, body: RawBuilder<unknown>): RawBuilder<unknown>[]
}

export interface CopyOptions {
  without: readonly (keyof Tables)[]
  progress?: (done: number, total: number) => void
}

/** Something an engine finds wrong with what it keeps. */
export interface Damage {
  text: string
  /** The tables of a row that refers to another which is not there; undefined for damage to the file itself. */
  reference?: { from: string; to: string }
}

/** Tracks whether anyone else wrote since `watch()`. */
export interface ChangeWatch {
  /** As `Database.write`, for what is no news to whoever watches. */
  write: Database['write']
  /**
   * The name of the state as it is now, as `Database.state` tells it from then on, when nothing but the units of `write`
   * was written since the watch began, by any process; undefined when something was, or when that cannot be known.
   */
  settle(): Promise<string | undefined>
}

export interface Database {
  /** Committed state, one statement at a time. */
  readonly read: Reader
  readonly dialect: SchemaDialect
  /**
   * Runs `unit` in a transaction that is durable before the promise resolves. Units waiting at the same moment may share
   * one commit, each in a savepoint of its own: a unit that throws is undone alone. No file or network I/O inside.
   * Throws `Busy` when another process holds the write lock too long and `DiskFull` when the disk is full.
   */
  write<T>(unit: (tx: Writer) => Promise<T>): Promise<T>
  /**
   * Subscribes `listener` to notifications: all of this process, those of others on Postgres. They may be lost, so a
   * listener that must not miss anything also reads the rows from time to time.
   */
  listen(topic: Topic, listener: Listener): void
  /** Runs `unit` over one consistent state, however long it takes. */
  snapshot<T>(unit: (at: Reader) => Promise<T>): Promise<T>
  /**
   * Writes one consistent state into a new SQLite file, whatever the engine: the form in which a database stands in a
   * backup. What was acknowledged before the call is in it, nothing of a transaction is in it in part, and whoever writes
   * meanwhile neither waits nor makes it start anew. The tables of `without` are there and empty, and no byte of their
   * rows is left. The schema is that of the migrations applied and of the synchronised tables, nothing else. A row that did
   * not change stands in the same page as in the copy before: SQLite copies pages; another engine writes the rows of one
   * snapshot table by table in the order of their keys. The file is not flushed. `progress` is told the bytes done and due.
   */
  copyTo(file: string, options: CopyOptions): Promise<void>
  /**
   * A name of everything that is committed at this moment. Two states that differ in anything never have the same name,
   * whoever wrote and by whatever program; undefined when no such name is known, which an engine may always say.
   */
  state(): Promise<string | undefined>
  /** Starts to track other writers. */
  watch(): ChangeWatch
  /** What the engine itself finds wrong, at most some hundred things; with `quick` indexes are not compared with their tables. */
  damage(quick: boolean): Promise<Damage[]>
  /** Gives room that was freed back to the disk; nobody else can write meanwhile. Returns the bytes before and after. */
  vacuum(): Promise<{ before: number; after: number }>
  /**
   * Calls `listener` when the files of the database are found gone or replaced, from when on everything here throws
   * `DatabaseMoved`, and with undefined when they are back. Engines without files of this machine never call it.
   */
  onMoved(listener: (moved: DatabaseMoved | undefined) => void): void
  /**
   * Calls `listener` when the engine cannot tell any more what is stored, as after a failed flush. Nothing can be written then, and the
   * process has to end.
   */
  onFailure(listener: (failure: Error) => void): void
  /** Facts for `doctor`: engine, version, settings that durability depends on. */
  describe(): Promise<Record<string, string>>
  close(): Promise<void>
}

type Values = Record<string, unknown>

/** Stands for a value while a query is built; `row` for which of several rows. */
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

/** The values of a compiled query, each in the place where the statement wants it. */
const filled = <R>(compiled: CompiledQuery<R>, rows: readonly Values[]): CompiledQuery<R> => ({
  ...compiled,
  parameters: compiled.parameters.map((value) => (value instanceof Placeholder ? rows[value.row]![value.name] : value)),
})

/**
 * A query built once and run with other values each time, several times faster than building it anew.
 * `build` is handed a stand-in for every value: `prepared<{ id: number }, Row>(({ q, p }) => q.selectFrom(…).where('id', '=', p.id))`.
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

/** Most rows of one statement: beyond, more rows win nothing. */
const LARGEST = 64

/**
 * The same for a statement that takes many rows: `build` is handed stand-ins for each of them. It is built for a few sizes
 * only, and run as often as all the rows need.
 */
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

/** The only row of an answer, or undefined. */
export const first = async <R>(rows: Promise<R[]>): Promise<R | undefined> => (await rows)[0]
