import { randomInt } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, realpath, stat, utimes } from 'node:fs/promises'
import { SECOND } from '../../base/clock.ts'
import { errorCode } from '../../base/errors.ts'
import type { SqliteHandle } from '../../host/sqlite-engine.ts'
import type { Database, ChangeWatch } from './database.ts'

// How it is known that a database file is still as it was: its log is empty, and nobody has written to the file since its
// time of modification was set back. Every write sets that time and the one of the last change of the inode to the same
// moment, whatever the clock says, however coarse its ticks are, and whichever program writes; so where the two lie apart,
// and are those that were seen, nothing was written. Nothing that is in the database itself could tell as much: a commit
// leaves no number in the file that another one could not leave too.

/** How far the time of modification is set back, seconds, and by a random part of one more. */
const SET_BACK = 10
/** A file system that keeps no more than this of a time rounds, ns: two states could come to the same times there. */
const ROUNDED = 1_000_000n
/** How far the two times lie apart at least, ns. */
const APART = 5_000_000_000n

/** Names the file that stands at a path; undefined when there is none. */
export function fileId(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** Times that were not on the disk yet are lost with the power: what was seen before counts until then. */
const bootId = (): Promise<string | undefined> =>
  readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  )

/** Bytes in the log of a database, of which a process that was killed may have left some. */
const logSize = (file: string): Promise<number> =>
  stat(`${file}-wal`).then(
    ({ size }) => size,
    (error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
      return 0
    },
  )

/** `Database.state` for a file of SQLite: known only where the log is empty, after `settle`, on Linux. */
export async function stateOf(path: string): Promise<string | undefined> {
  const boot = await bootId()
  if (boot === undefined) return undefined
  try {
    // SQLite keeps the log beside the file that a link leads to.
    const file = await realpath(path)
    // The log first: what is in it reaches the file before the log is emptied, so that it is seen in one of the two.
    if ((await logSize(file)) > 0) return undefined
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
    const isSetBack = ctimeNs - mtimeNs >= APART && mtimeNs % ROUNDED !== 0n
    return isSetBack ? [boot, dev, ino, size, mtimeNs, ctimeNs].join(':') : undefined
  } catch {
    return undefined
  }
}

/** Moves all of the log into the file; false where it stays, as while somebody still reads from it or writes to it. */
function emptyLog(handle: SqliteHandle, patience: number): boolean {
  handle.pragma('busy_timeout = 0')
  try {
    const [outcome] = handle.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return outcome?.busy === 0
  } catch {
    // Also where the disk is full: what is in the log is safe there.
    return false
  } finally {
    handle.pragma(`busy_timeout = ${patience}`)
  }
}

/** Sets back the time of modification. Throws when the file belongs to another user. */
async function setBack(file: string): Promise<void> {
  // Never a whole millisecond.
  const at = Math.floor(Date.now() / SECOND) - SET_BACK - randomInt(1_000) / 1e3 - randomInt(100, 900) / 1e6
  await utimes(file, at, at)
}

interface Watched {
  file: string
  /** The file that the handle has opened, by `fileId`; undefined when that is not sure. */
  opened: string | undefined
  /** The handle through which all units of this process write. */
  writer: SqliteHandle
  write: Database['write']
  units: () => { begun: number; ended: number }
  /** How long statements of the handle wait for a lock, ms. */
  patience: number
}

/** `Database.watch` for a file of SQLite. */
export function watchOver({ file, opened, writer, write, units, patience }: Watched): ChangeWatch {
  // Changes when another connection commits, of this process or of another one, and not with what this one commits.
  const commits = () => writer.pragma('data_version', { simple: true }) as number
  const before = { commits: commits(), units: units().ended }
  let own = 0
  const onlyOwn = (): boolean => units().begun - before.units === own && commits() === before.commits

  return {
    write(unit) {
      own += 1
      return write(unit)
    },
    async settle() {
      if (opened === undefined || (await bootId()) === undefined || !onlyOwn() || !emptyLog(writer, patience))
        return undefined
      try {
        await setBack(file)
      } catch {
        return undefined
      }
      const state = await stateOf(file)
      // Asked last: whoever commits after this has to write behind the time that was set back.
      return onlyOwn() && fileId(file) === opened ? state : undefined
    },
  }
}
