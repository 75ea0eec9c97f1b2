import { openCopyFile, type SqliteHandle } from '../../../../src/host/sqlite-engine.ts'
import type { SqliteFile } from '../../../../src/host/sqlite-file.ts'
import type { Disk } from './disk.ts'
import { onDisk } from './mounts.ts'
import { PowerCut, systemError } from './errors.ts'

/** A database in memory, kept in a file of a disk in memory. */
interface Kept {
  handle: SqliteHandle
  statements: Map<string, ReturnType<SqliteHandle['prepare']>>
  bytes(): Buffer
}

/** As `openSqliteFile` does on a real disk: what a transaction committed outlasts a power cut, and nothing of one that did not. */
function openOn(disk: Disk, path: string): SqliteFile {
  disk.call('sqlite', path)
  const { handle, statements } = databaseAt(disk, path)
  const statement = (sql: string) => {
    if (disk.dead) throw new PowerCut()
    const found = statements.get(sql) ?? handle.prepare(sql)
    statements.set(sql, found)
    return found
  }
  return {
    all: <R>(sql: string, ...values: unknown[]) => statement(sql).all(values) as R[],
    each: <R>(sql: string, ...values: unknown[]) => statement(sql).iterate(values) as Iterable<R>,
    get: <R>(sql: string, ...values: unknown[]) => statement(sql).get(values) as R | undefined,
    run: (sql, ...values) => void statement(sql).run(values),
    script: (sql) => void handle.exec(sql),
    transaction: <T>(work: () => T) => {
      if (disk.dead) throw new PowerCut()
      return handle.transaction(work).immediate()
    },
    // It lives as long as the file.
    close: () => undefined,
  }
}

function databaseAt(disk: Disk, path: string): Kept {
  const spot = disk.find('open', path, true)
  const { kept } = spot.inode ?? {}
  if (kept) return kept as Kept
  if (spot.inode) throw systemError('SQLITE_NOTADB', 'open', path)
  const handle = openCopyFile(':memory:')
  const inode = disk.create('file', 0o600)
  inode.kept = { handle, statements: new Map(), bytes: () => handle.serialize() } satisfies Kept
  inode.flushed = inode.data
  // SQLite flushes the folder too.
  disk.asUser(() => disk.step([{ ...spot, to: inode }]))
  return inode.kept as Kept
}

type Open = (file: string) => SqliteFile

/** Stands for `host/sqlite-file.ts`. */
export const overlay = (actual: { openSqliteFile: Open }): { openSqliteFile: Open } => ({
  openSqliteFile(file) {
    const place = onDisk(file)
    return place ? openOn(place.disk, place.path) : actual.openSqliteFile(file)
  },
})
