import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseMoved } from '../../base/errors.ts'
import { fileId } from './sqlite-state.ts'

// On POSIX a process can keep writing to a file that was deleted or replaced: its commits are lost when it ends. SQLite
// does not check this in WAL mode (SQLITE_READONLY_DBMOVED is for the rollback journal), so this process does.

/** How long a check is valid for reads, ms. */
const FRESH_MS = 250

export type MovedListener = (moved: DatabaseMoved | undefined) => void

export interface FileGuard {
  /** Whether the paths still lead to the opened files. */
  isInPlace(): boolean
  /** Throws `DatabaseMoved` if not. */
  assertInPlace(): void
  /** The same, with a result that may be up to `FRESH_MS` old. */
  assertRecentlyInPlace(): void
  /** Calls `listener` when the files are first found missing, and with undefined when they are back. */
  onChange(listener: MovedListener): void
}

/** An error counts as missing: a disk that does not respond cannot store a commit either. */
function idOf(path: string): string | undefined {
  try {
    return fileId(path)
  } catch {
    return undefined
  }
}

const describe = (path: string, name: string, id: string | undefined): string =>
  `${basename(name)} was ${id === undefined ? 'removed or its disk unmounted' : 'replaced by another file'} while ${path} was in use, so nothing is read or stored. ` +
  'Put back that very file with its -wal and -shm, or mount the disk, and the service continues. ' +
  'Where it is lost, stop the server and restore a backup to a new folder (svc backup restore latest --from DIR --data-dir NEW).'

/** Guards a database that was just opened and read, so that its log exists. */
export function guardFiles(path: string): FileGuard {
  // SQLite keeps log and index beside the target of a symbolic link.
  const real = realpathSync(path)
  const opened = [path, `${real}-wal`, `${real}-shm`].map((name) => ({ name, id: idOf(name) }))
  const listeners: MovedListener[] = []
  let moved: DatabaseMoved | undefined
  let checkedAt = -Infinity

  function checkFiles(): void {
    checkedAt = performance.now()
    const before = moved
    const found = opened.map(({ name, id }) => ({ name, id, now: idOf(name) })).find(({ id, now }) => id !== now)
    moved = found && new DatabaseMoved(describe(path, found.name, found.now))
    if (before === undefined ? moved !== undefined : moved === undefined) for (const each of listeners) each(moved)
  }

  return {
    isInPlace() {
      checkFiles()
      return moved === undefined
    },
    assertInPlace() {
      checkFiles()
      if (moved) throw moved
    },
    assertRecentlyInPlace() {
      if (performance.now() - checkedAt > FRESH_MS) checkFiles()
      if (moved) throw moved
    },
    onChange: (listener) => void listeners.push(listener),
  }
}
