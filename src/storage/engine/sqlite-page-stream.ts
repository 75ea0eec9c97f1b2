import { closeSync, fstatSync, openSync, read, realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import { DatabaseMoved, errorCode } from '../../base/errors.ts'
import { fileId } from './sqlite-state.ts'
import { Connection, isBusy, openHandle } from './sqlite-connection.ts'
import { readLog, type LogPages, type LogPosition } from './sqlite-log-reader.ts'
import type { PageChanges, PageStream } from './page-stream.ts'

// Follows the write-ahead log of a database that other processes write to. A log is restarted, and its frames are lost,
// once all of it is in the database file and nobody reads from it. A read transaction therefore always stays open, and
// a new one begins before the old one ends. The frames between the two are read meanwhile:
//
// - A transaction that reads from the log prevents its restart.
// - One that began when all of the log was in the file does not, but prevents that more reaches the file. The log is
//   restarted at most once, and what it held before was read when that transaction began.

/** Log size from which this process makes the checkpoint after which the log can restart, in pages; about 16 MiB. */
const RESTART_PAGES = 4_000
/** How long a checkpoint waits for the writer, ms. */
const LOCK_WAIT_MS = 20

const readBytes = promisify(read)

interface ContentRow {
  row: number
  sha256: string
  size: number
  isLarge: number
}

/** A row of `contents` as it was found: one that was inserted in its place was touched later. */
interface KnownRow {
  row: number
  sha256: string
  touchedAt: number
}

/**
 * Finds new contents by their row numbers. A new row gets the number after the highest one, so that all rows above one
 * that is still in its place came later. Rows at growing distances from the newest one are remembered: where that was
 * removed, at most as many are returned again as were removed.
 */
function contentFinder({ handle }: Connection): PageStream['contents'] {
  const after = handle.prepare(
    'select rowid as row, sha256, size, data is null as isLarge from contents where rowid > ? order by rowid',
  )
  const highest = handle.prepare(
    'select rowid as row, sha256, touched_at as touchedAt from contents where rowid <= ? order by rowid desc limit 1',
  )
  const at = handle.prepare('select sha256, touched_at as touchedAt from contents where rowid = ?')
  const isInPlace = ({ row, sha256, touchedAt }: KnownRow): boolean => {
    const found = at.get(row) as Omit<KnownRow, 'row'> | undefined
    return found?.sha256 === sha256 && found.touchedAt === touchedAt
  }
  /** The newest row, and rows at growing distances from it. */
  function someRows(): KnownRow[] {
    const rows: KnownRow[] = []
    let wanted = Number.MAX_SAFE_INTEGER
    for (let distance = 1; ; distance *= 2) {
      const found = highest.get(wanted) as KnownRow | undefined
      if (!found) return rows
      rows.push(found)
      wanted = found.row - distance
    }
  }

  let known = handle.transaction(someRows)()
  const find = handle.transaction((which: 'all' | 'new'): ContentRow[] => {
    const last = which === 'new' ? known.find(isInPlace) : undefined
    const rows = after.all(last?.row ?? 0) as ContentRow[]
    if (which === 'new' && (rows.length > 0 || last !== known[0])) known = someRows()
    return rows
  })
  return (which) =>
    find(which)
      .filter(({ isLarge }) => isLarge === 1)
      .map(({ sha256, size }) => ({ sha256, size }))
}

/** Reads a log so that no frame is missed. */
interface LogFollower {
  /** What was committed since the last call. */
  advance(): LogPages | undefined
  /** Moves the whole log into the file while no other process writes, so that the next writer restarts it. */
  allowRestart(): LogPages | undefined
  /** What is in the log, from its beginning. */
  whole(): LogPages | undefined
  /** Frames of the log that were read. */
  frames(): number
  close(): void
}

function followLog(path: string, connect: () => Connection): LogFollower {
  let [current, other] = [connect(), connect()]
  const [checkpointer, locker] = [connect(), connect()]
  current.pin()
  const log = openSync(`${path}-wal`, 'r')
  let position: LogPosition | undefined

  /** Begins the next read transaction, then runs `unit`, and ends the transaction before. */
  function repin<T>(unit: () => T): T {
    try {
      other.pin()
      const value = unit()
      current.unpin()
      ;[current, other] = [other, current]
      return value
    } catch (error) {
      if (other.handle.inTransaction) other.exec('rollback')
      throw error
    }
  }

  function advance(): LogPages | undefined {
    const found = repin(() => readLog(log, position))
    if (found) position = found.position
    return found
  }

  /** A full disk or another checkpoint only delays it. */
  function checkpoint(): void {
    try {
      checkpointer.handle.pragma('wal_checkpoint(PASSIVE)')
    } catch (error) {
      if (!/^SQLITE_(FULL|BUSY|IOERR)/.test(errorCode(error))) throw error
    }
  }

  return {
    advance,
    allowRestart() {
      checkpoint()
      try {
        locker.exec('begin immediate')
      } catch (error) {
        if (isBusy(error)) return undefined
        throw error
      }
      try {
        const found = advance()
        checkpoint()
        repin(() => undefined)
        return found
      } finally {
        locker.exec('rollback')
      }
    },
    whole() {
      position = undefined
      return advance()
    },
    frames: () => position?.frames ?? 0,
    close() {
      for (const each of [current, other, checkpointer, locker]) each.close()
      closeSync(log)
    },
  }
}

function changesOf(at: number, found: readonly (LogPages | undefined)[]): PageChanges | 'too-much' | undefined {
  const pages = new Map<number, Uint8Array>()
  let pageCount: number | undefined
  for (const each of found) {
    if (each && !each.pages) return 'too-much'
    for (const [page, bytes] of each?.pages ?? []) pages.set(page, bytes)
    pageCount = each?.pageCount ?? pageCount
  }
  return pageCount === undefined ? undefined : { at, pages, pageCount }
}

/** Opens the stream of a database in WAL mode, whose checkpoints it takes over. */
export function openSqlitePageStream(path: string): PageStream {
  const real = realpathSync(path)
  // Never closed: that would drop the locks that all connections of this process have on the file.
  const file = openSync(real, 'r')
  const connect = (): Connection => {
    const connection = new Connection(openHandle(real, { fileMustExist: true }))
    connection.handle.pragma('wal_autocheckpoint = 0')
    connection.handle.pragma(`busy_timeout = ${LOCK_WAIT_MS}`)
    return connection
  }
  const reader = connect()
  const log = followLog(real, connect)
  const opened = [real, `${real}-wal`].map(fileId)

  function assertInPlace(): void {
    const found = [path, `${real}-wal`].map(fileId)
    if (found.every((id, index) => id === opened[index])) return
    throw new DatabaseMoved(
      `${path} was replaced or removed, so its changes cannot be streamed: start the stream again.`,
    )
  }

  return {
    pageSize: Number(reader.handle.pragma('page_size', { simple: true })),
    at: reader,
    contents: contentFinder(reader),
    next() {
      assertInPlace()
      const at = Date.now()
      const found = [log.advance()]
      if (log.frames() >= RESTART_PAGES) found.push(log.allowRestart())
      return changesOf(at, found)
    },
    begin() {
      assertInPlace()
      const at = Date.now()
      // The shorter the log, the less is read again.
      const found = [log.allowRestart(), log.whole()]
      const pageCount = (): number => Number(reader.handle.pragma('page_count', { simple: true }))
      return changesOf(at, found) ?? { at, pages: new Map(), pageCount: pageCount() }
    },
    async read(start, length) {
      const { bytesRead, buffer } = await readBytes(file, Buffer.allocUnsafe(length), 0, length, start)
      return buffer.subarray(0, bytesRead)
    },
    size: () => fstatSync(file).size,
    close() {
      log.close()
      reader.close()
    },
  }
}
