import type { Compilable, CompiledQuery, Kysely, RawBuilder } from 'kysely'
import type { Tables } from './tables.ts'

/** Something queries can be asked of: committed state, one snapshot, or a transaction. */
export interface Reader {
  readonly q: Kysely<Tables>
  /** Runs a query compiled before. */
  run<R>(query: CompiledQuery<R>): Promise<R[]>
}

/** A transaction that writes. Only `Database.write` makes one, so nothing can be written outside a transaction. */
export interface Writer extends Reader {
  /** Runs `part` so that it is undone alone when it throws; the transaction goes on. */
  attempt<T>(part: () => Promise<T>): Promise<T>
}

/** The words of the data definition language in which SQLite and Postgres differ. */
export interface Words {
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
}

export interface Database {
  /** Committed state, one statement at a time. */
  readonly read: Reader
  readonly words: Words
  /**
   * Runs `unit` in a transaction that is durable before the promise resolves. Units waiting at the same moment may share
   * one commit, each in a savepoint of its own: a unit that throws is undone alone. No file or network I/O inside.
   * Throws `Busy` when another process holds the write lock too long and `DiskFull` when the disk is full.
   */
  write<T>(unit: (tx: Writer) => Promise<T>): Promise<T>
  /** Runs `unit` over one consistent state, however long it takes. */
  snapshot<T>(unit: (at: Reader) => Promise<T>): Promise<T>
  /** Facts for `doctor`: engine, version, settings that durability depends on. */
  describe(): Promise<Record<string, string>>
  close(): Promise<void>
}

type Values = Record<string, unknown>

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })

/**
 * A query built once and run with other values each time, several times faster than building it anew.
 * `build` is handed a stand-in for every value: `prepared<{ id: number }, Row>(({ q, p }) => q.selectFrom(…).where('id', '=', p.id))`.
 */
export function prepared<V extends Values, R>(
  build: (parts: { q: Kysely<Tables>; p: V }) => Compilable<R>,
): (on: Reader, values: V) => Promise<R[]> {
  let compiled: CompiledQuery<R> | undefined
  return (on, values) => {
    compiled ??= build({ q: on.q, p: placeholders as V }).compile()
    const parameters = compiled.parameters.map((value) => (value instanceof Placeholder ? values[value.name] : value))
    return on.run({ ...compiled, parameters })
  }
}

/** The only row of an answer, or undefined. */
export const first = async <R>(rows: Promise<R[]>): Promise<R | undefined> => (await rows)[0]
