import { constants, copyFileSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomHex } from '../base/random.ts'
import { errorCode } from '../base/errors.ts'
import { cannotLink } from './durable.ts'
import { isRunning } from './running.ts'

// Locks between processes, as files: whoever makes the file holds the lock, and the file says who that is.

/** A process of a machine, named by its number and the moment it began, because numbers are given again. */
export interface Holder {
  pid: number
  host: string
  began: string
  /** Names this one lock; missing in one that an earlier version made. */
  token?: string
}

interface LockOptions {
  /** Milliseconds after which a lock of another machine, of which nobody here can tell whether it is held, counts as abandoned. */
  abandoned?: number
}

/** What is done under `whileLocked` takes milliseconds: a lock of another machine this old, in milliseconds, was left behind. */
const ABANDONED = 60_000
const PAUSE = 20
/** A lock that others take and release all the time is not tried for ever. */
const TRIES = 3

/** This process. */
export const ownIdentity = (): Holder => ({
  pid: process.pid,
  host: hostname(),
  began: beginningOf(process.pid) ?? '',
})

/** Whether a process may still be at work; of those of other machines nobody can tell. */
export function mayBeRunning({ pid, host, began }: Holder): boolean {
  if (host !== hostname()) return true
  if (typeof pid !== 'number' || !isRunning(pid)) return false
  const now = beginningOf(pid)
  return now === undefined || began === undefined || now === began
}

/** Takes a lock; the function it returns releases it. Undefined while another process has it; one whose process is gone is taken over. */
export function tryLock(file: string, options: LockOptions = {}): (() => void) | undefined {
  const token = randomHex(8)
  const own = `${file}.${token}`
  writeFileSync(own, JSON.stringify({ ...ownIdentity(), token } satisfies Holder), { mode: 0o600, flag: 'wx' })
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (linkIfAbsent(own, file)) return () => release(file, token)
      if (!removeStale(file, options)) return undefined
    }
    return undefined
  } finally {
    rmSync(own, { force: true })
  }
}

/** Does short work that no other process does at the same time: a lock is held meanwhile, and waited for. */
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

/** Whether a process holds a lock. */
export function isLocked(file: string): boolean {
  const holder = holderOf(file)
  return holder !== undefined && mayBeRunning(holder)
}

/** Who holds a lock; undefined when there is none, or one that names nobody, as a power cut leaves it. */
export function holderOf(file: string): Holder | undefined {
  const text = textOf(file)
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Holder)
  } catch {
    // No process is named in it, so none holds it.
    return undefined
  }
}

/** A link is made whole or not at all: nobody ever sees a lock without its holder's name. Some file systems have none, then it is copied. */
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
 * Removes a lock whose holder is gone; false when it has one. Only who holds the lock on removing this very one may do so, and looks again
 * first: otherwise, of two processes that see the same stale lock, the slower one would remove the fresh lock of the faster.
 */
function removeStale(file: string, options: LockOptions): boolean {
  if (textOf(file) === undefined) return true
  const holder = holderOf(file)
  if (holder && isHeld(file, holder, options)) return false
  const letGo = tryLock(`${file}.${holder?.token ?? 'unnamed'}.stale`, options)
  if (!letGo) return false
  try {
    const now = holderOf(file)
    if (now?.token === holder?.token && !(now && isHeld(file, now, options))) rmSync(file, { force: true })
  } finally {
    letGo()
  }
  return true
}

function isHeld(file: string, holder: Holder, { abandoned = Infinity }: LockOptions): boolean {
  if (!mayBeRunning(holder)) return false
  if (holder.host === hostname() || abandoned === Infinity) return true
  const stats = statSync(file, { throwIfNoEntry: false })
  // The file's time and this clock may be of two machines: a lock from the future is no younger than one from the past.
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < abandoned
}

function release(file: string, token: string): void {
  if (holderOf(file)?.token === token) rmSync(file, { force: true })
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** When a process began, as Linux counts it (proc_pid_stat(5), field 22) with the boot it belongs to; undefined elsewhere. */
function beginningOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    // The name of the program, in parentheses, may hold anything.
    return `${boot} ${fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    // No such file system: then the number alone has to do.
    return undefined
  }
}
