import { constants, copyFileSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomHex } from '../base/random.ts'
import { errorCode, fromSystemError } from '../base/errors.ts'
import { cannotLink } from './durable-files.ts'
import { isRunning } from './process-status.ts'
import { readRegularFileSync } from './regular-file.ts'

// Lock files between processes; each names its holder.

/** A process on a machine. The start time is needed because process ids are reused. */
export interface Holder {
  pid: number
  host: string
  began: string
  /** Identifies this lock; missing in locks of earlier versions. */
  token?: string
}

interface LockOptions {
  /** Age in ms at which a lock of another machine counts as abandoned: its holder cannot be checked. */
  abandoned?: number
}

/** The same for locks of `whileLocked`, whose work takes milliseconds. */
const ABANDONED = 60_000
const PAUSE = 20
/** Attempts at a lock that other processes keep acquiring and releasing. */
const TRIES = 3

/** This process, as lock files record it. */
export const ownIdentity = (): Holder => ({
  pid: process.pid,
  host: hostname(),
  began: beginningOf(process.pid) ?? '',
})

/** False only if the process has certainly ended: on another host, nobody can tell. */
export function mayBeRunning({ pid, host, began }: Holder): boolean {
  if (host !== hostname()) return true
  if (typeof pid !== 'number' || !isRunning(pid)) return false
  const now = beginningOf(pid)
  return now === undefined || began === undefined || now === began
}

/** Returns the release function; undefined while another process holds it. Replaces the lock of a dead process. */
export function tryLock(file: string, options: LockOptions = {}): (() => void) | undefined {
  const token = randomHex(8)
  const own = `${file}.${token}`
  try {
    writeFileSync(own, JSON.stringify({ ...ownIdentity(), token } satisfies Holder), { mode: 0o600, flag: 'wx' })
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (linkIfAbsent(own, file)) return () => release(file, token)
      if (!removeStale(file, options)) return undefined
    }
    return undefined
  } catch (error) {
    throw fromSystemError(error, file)
  } finally {
    rmSync(own, { force: true })
  }
}

/** Waits for a lock and runs short work under it. */
export async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const letGo = tryLock(file, { abandoned: ABANDONED })
    if (!letGo) await sleep(PAUSE)
    else {
      try {
        return await work()
      } finally {
        letGo()
      }
    }
  }
}

/** Whether a process that may be running holds the lock. It may have changed when this returns. */
export function isLocked(file: string): boolean {
  const holder = holderOf(file)
  return holder !== undefined && mayBeRunning(holder)
}

/** The holder of a lock; undefined if there is none, or if a power cut left the file empty. */
export function holderOf(file: string): Holder | undefined {
  const text = textOf(file)
  return text === undefined ? undefined : parseHolder(text)
}

function parseHolder(text: string): Holder | undefined {
  try {
    return (JSON.parse(text) as Holder | null) ?? undefined
  } catch {
    return undefined
  }
}

/** A link is created completely or not at all, so no lock lacks its holder. Without hard links the file is copied. */
function linkIfAbsent(from: string, to: string): boolean {
  try {
    try {
      linkSync(from, to)
    } catch (error) {
      if (!cannotLink(error)) throw error
      copyFileSync(from, to, constants.COPYFILE_EXCL)
    }
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a lock whose holder is gone; false if it is held. Holds a lock on the removal and checks again under it:
 * otherwise, of two processes that see the same stale lock, the slower one would remove the new lock of the faster one.
 */
function removeStale(file: string, options: LockOptions): boolean {
  const seen = textOf(file)
  if (seen === undefined) return true
  const holder = parseHolder(seen)
  if (holder && isHeld(file, holder, options)) return false
  const letGo = tryLock(`${file}.${holder?.token ?? 'unnamed'}.stale`, options)
  if (!letGo) return false
  try {
    // A file that is gone by now is not removed: another process may create its lock at any moment.
    if (textOf(file) === seen && !(holder && isHeld(file, holder, options))) rmSync(file, { force: true })
  } finally {
    letGo()
  }
  return true
}

function isHeld(file: string, holder: Holder, { abandoned = Infinity }: LockOptions): boolean {
  if (!mayBeRunning(holder)) return false
  if (holder.host === hostname() || abandoned === Infinity) return true
  const stats = statSync(file, { throwIfNoEntry: false })
  // The file's time may come from another machine's clock: a future time is treated like a past one.
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < abandoned
}

function release(file: string, token: string): void {
  if (holderOf(file)?.token === token) rmSync(file, { force: true })
}

function textOf(file: string): string | undefined {
  try {
    return readRegularFileSync(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The start time of a process (proc_pid_stat(5), field 22) with its boot id; undefined where there is no /proc. */
function beginningOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    // The program name, in parentheses, may contain anything.
    return `${boot} ${fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return undefined
  }
}
