import { createRequire } from 'node:module'
import { fromSystemError } from '../base/errors.ts'
import type BetterSqlite3 from 'better-sqlite3'

export type SqliteHandle = BetterSqlite3.Database
export type SqliteStatement = BetterSqlite3.Statement

/** 3.51.3 fixed the WAL-reset bug, which could corrupt a database with several writing connections (sqlite.org/wal.html). */
const OLDEST = [3, 51, 3] as const

/** better-sqlite3 13 needs Node-API 10 (Node >= 22.14); 12 is the last for Node 20. npm installs the one that fits. */
export const engineName = Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3'

function load(): typeof BetterSqlite3 {
  try {
    return createRequire(import.meta.url)(engineName) as typeof BetterSqlite3
  } catch (cause) {
    throw new Error(
      `SQLite could not be loaded on Node ${process.versions.node}: install with Node >= 22.14, or with a C++ compiler at hand (Debian: apt-get install make g++ python3).`,
      { cause },
    )
  }
}

/** Commits are durable before they return. `patience` is how long a statement waits for another lock, ms. */
export function openEngine(file: string, patience: number, { fileMustExist = false } = {}): SqliteHandle {
  const handle = new (load())(file, { timeout: patience, fileMustExist })
  try {
    beginLog(handle)
    // better-sqlite3 defaults to NORMAL for WAL, which can lose the last commits on a power cut.
    handle.pragma('synchronous = FULL')
    handle.pragma('trusted_schema = OFF')
    handle.pragma('cell_size_check = ON')
    if (process.platform === 'darwin') handle.pragma('fullfsync = 1')
    return handle
  } catch (error) {
    handle.close()
    throw fromSystemError(error, file)
  }
}

/** How long processes that open a new file at the same moment wait for each other, in milliseconds. */
const OPENING_PATIENCE = 10_000
const PAUSE = 20

/** Switches to the write-ahead log. Only one process can do that on a new file; SQLite refuses the others at once. */
function beginLog(handle: SqliteHandle): void {
  const deadline = Date.now() + OPENING_PATIENCE
  for (;;) {
    try {
      handle.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
    }
  }
}

/** Settings of a private file: its schema may run no code, and damage is noticed. */
export const PRIVATE_FILE =
  'pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0; pragma temp_store = memory;'
/** Commits are not durable. */
export const NOT_DURABLE = 'pragma synchronous = off;'

/**
 * Opens a private database file: a copy, or an untrusted one, whose schema may run no code. Commits are not durable;
 * writers flush the file when it is complete. `:memory:` has no file.
 */
export function openCopyFile(file: string, { readonly = false } = {}): SqliteHandle {
  const handle = new (load())(file, { readonly, fileMustExist: file !== ':memory:' })
  try {
    handle.exec(PRIVATE_FILE)
    if (!readonly) handle.exec(NOT_DURABLE)
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Refuses an engine or settings that could lose an acknowledged write. */
export function assertDurable(handle: SqliteHandle): void {
  const version = handle.prepare('select sqlite_version() as version').pluck().get() as string
  const numbers = version.split('.').map(Number)
  const differs = OLDEST.findIndex((number, index) => (numbers[index] ?? 0) !== number)
  if (differs >= 0 && (numbers[differs] ?? 0) < OLDEST[differs]!) {
    throw new Error(`SQLite ${version} is too old: at least ${OLDEST.join('.')} is needed.`)
  }
  const expected = { journal_mode: 'wal', synchronous: 2 } as const
  for (const [name, value] of Object.entries(expected)) {
    const actual = handle.pragma(name, { simple: true })
    if (actual !== value) throw new Error(`SQLite runs with ${name} = ${String(actual)}; it must be ${value}.`)
  }
}
