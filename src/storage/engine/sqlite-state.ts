import { randomInt } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, realpath, stat, utimes } from 'node:fs/promises'
import { SECOND } from '../../base/clock.ts'
import { errorCode } from '../../base/errors.ts'
import type { SqliteHandle } from '../../host/sqlite-engine.ts'
import type { Database, ChangeWatch } from './database.ts'

// Detects that a database file is unchanged: its log is empty, and nothing has written to the file since its mtime was
// set back. Every write sets mtime and ctime to the same time, whatever the clock says, however coarse its ticks are,
// and whichever program writes; so if they differ and equal the recorded ones, nothing was written. Nothing inside the
// database could prove as much: there is no number that every commit changes and no other commit repeats.

/** How far mtime is set back, in seconds; plus a random part of a second. */
const SET_BACK = 10
/** A file system with coarser timestamps, ns, rounds: two states could have the same times. */
const COARSE_NS = 1_000_000n
const MIN_DISTANCE_NS = 5_000_000_000n

/** Identifies the file at a path; undefined if there is none. */
export function fileId(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** Timestamps that were not flushed are lost in a power failure: the state is valid within one boot. */
const bootId = (): Promise<string | undefined> =>
  readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  )

/** Bytes in the log of a database; a killed process may leave some. */
const logSize = (file: string): Promise<number> =>
  stat(`${file}-wal`).then(
    ({ size }) => size,
    (error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
      return 0
    },
  )

/** `Database.state` of a SQLite file: known only on Linux, after `settle`, while the log is empty. */
export async function stateOf(path: string): Promise<string | undefined> {
  const boot = await bootId()
  if (boot === undefined) return undefined
  try {
    // SQLite keeps the log beside the target of a symbolic link.
    const file = await realpath(path)
    // Check the log first: its data reaches the file before the log is emptied, so one of the two shows it.
    if ((await logSize(file)) > 0) return undefined
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
    const isSetBack = ctimeNs - mtimeNs >= MIN_DISTANCE_NS && mtimeNs % COARSE_NS !== 0n
    return isSetBack ? [boot, dev, ino, size, mtimeNs, ctimeNs].join(':') : undefined
  } catch {
    return undefined
  }
}

/** Checkpoints the whole log; false while others read from it or write to it. */
function emptyLog(handle: SqliteHandle, patience: number): boolean {
  handle.pragma('busy_timeout = 0')
  try {
    const [outcome] = handle.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return outcome?.busy === 0
  } catch {
    // Also if the disk is full: the data is safe in the log.
    return false
  } finally {
    handle.pragma(`busy_timeout = ${patience}`)
  }
}

/** Sets mtime back. Throws if the file belongs to another user. */
async function setBack(file: string): Promise<void> {
  // Never a whole millisecond.
  const at = Math.floor(Date.now() / SECOND) - SET_BACK - randomInt(1_000) / 1e3 - randomInt(100, 900) / 1e6
  await utimes(file, at, at)
}

interface Watched {
  file: string
  /** `fileId` of the file that the handle opened; undefined if unsure. */
  opened: string | undefined
  /** The handle with all writes of this process. */
  writer: SqliteHandle
  write: Database['write']
  units: () => { begun: number; ended: number }
  /** How long the handle's statements wait for a lock, ms. */
  patience: number
}

/** `Database.watch` of a SQLite file. */
export function watchOver({ file, opened, writer, write, units, patience }: Watched): ChangeWatch {
  // Changes with commits of other connections only, in any process.
  const commits = () => writer.pragma('data_version', { simple: true }) as number
  const before = { commits: commits(), units: units().ended }
  let own = 0
  const onlyOwn = (): boolean => units().begun - before.units === own && commits() === before.commits

  return {
    write(scope, unit) {
      own += 1
      return write(scope, unit)
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
      // Check last: a later commit writes after mtime was set back.
      return onlyOwn() && fileId(file) === opened ? state : undefined
    },
  }
}
