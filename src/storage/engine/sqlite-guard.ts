import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseMoved } from '../../base/errors.ts'
import { fileId } from './sqlite-state.ts'

// POSIX lets a process write on into a file whose name is gone or leads elsewhere: everything it commits there is lost when it
// ends. SQLite does not look (SQLITE_READONLY_DBMOVED is for the rollback journal only), so this process compares.

/** How long an outcome is good enough for reads, ms. */
const FRESH_MS = 250

export type MovedListener = (moved: DatabaseMoved | undefined) => void

export interface FileGuard {
  /** Throws `DatabaseMoved` unless the names of the database still lead to the files that were opened. */
  assertInPlace(): void
  /** The same, by an outcome that may be some milliseconds old. */
  assertRecentlyInPlace(): void
  /** Calls `listener` when the files are first found missing, and with undefined when they are back. */
  onChange(listener: MovedListener): void
}

/** Errors count as absence: a file on a disk that does not answer is no place for a commit either. */
function idOf(path: string): string | undefined {
  try {
    return fileId(path)
  } catch {
    return undefined
  }
}

const describe = (path: string, name: string, id: string | undefined): string =>
  `${basename(name)} was ${id === undefined ? 'removed or its disk unmounted' : 'replaced by another file'} while ${path} was in use, so nothing is read or stored. ` +
  'Put back that very file with its -wal and -shm, or mount the disk, and the service goes on. ' +
  'Where it is lost, stop the server and restore a backup to a new folder (svc backup restore latest --from DIR --data-dir NEW).'

/** Guards a database that this process has just opened and read from, so that its log is there. */
export function guardFiles(path: string): FileGuard {
  // SQLite keeps log and index beside the file that a link leads to.
  const real = realpathSync(path)
  const opened = [path, `${real}-wal`, `${real}-shm`].map((name) => ({ name, id: idOf(name) }))
  const listeners: MovedListener[] = []
  let moved: DatabaseMoved | undefined
  let lookedAt = -Infinity

  function look(): void {
    lookedAt = performance.now()
    const before = moved
    const found = opened.map(({ name, id }) => ({ name, id, now: idOf(name) })).find(({ id, now }) => id !== now)
    moved = found && new DatabaseMoved(describe(path, found.name, found.now))
    if (before === undefined ? moved !== undefined : moved === undefined) for (const each of listeners) each(moved)
  }

  return {
    assertInPlace() {
      look()
      if (moved) throw moved
    },
    assertRecentlyInPlace() {
      if (performance.now() - lookedAt > FRESH_MS) look()
      if (moved) throw moved
    },
    onChange: (listener) => void listeners.push(listener),
  }
}
