import { constants, copyFileSync, linkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE, SECOND } from '../base/clock.ts'
import { randomHex } from '../base/random.ts'
import { errorCode, fromSystemError } from '../base/errors.ts'
import { cannotLink } from './durable-files.ts'
import { ownIdentity, processState, type ProcessIdentity } from './process-identity.ts'
import { readRegularFileSync } from './regular-file.ts'

// Lock files between processes; each names its holder.

/** The process that holds a lock. */
export interface Holder extends ProcessIdentity {
  /** Identifies this lock; missing in locks of earlier versions. */
  token?: string
}

interface LockOptions {
  /** Time in ms after which an untouched lock counts as abandoned if nobody can tell whether its holder runs. */
  abandoned?: number
}

/** How often a holder touches its lock, ms. */
const TOUCH_EVERY = 30 * SECOND
/** `abandoned` for a lock of this host name, such as that of a container which was replaced. */
const ABANDONED = 10 * MINUTE
/** The same for locks of `whileLocked`, whose work takes milliseconds. */
const ABANDONED_WORK = MINUTE
const PAUSE = 20
/** Attempts at a lock that other processes keep acquiring and releasing. */
const TRIES = 3

/** Returns the release function; undefined while another process holds it. Replaces the lock of a dead process. */
export function tryLock(file: string, options: LockOptions = {}): (() => void) | undefined {
  const token = randomHex(8)
  const own = `${file}.${token}`
  try {
    writeFileSync(own, JSON.stringify({ ...ownIdentity(), token } satisfies Holder), { mode: 0o600, flag: 'wx' })
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (linkIfAbsent(own, file)) return keepTouched(file, token)
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
    const letGo = tryLock(file, { abandoned: ABANDONED_WORK })
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
export function isLocked(file: string, options: LockOptions = {}): boolean {
  const holder = holderOf(file)
  return holder !== undefined && isHeld(file, holder, options)
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

/** Earlier versions did not touch all locks: theirs do not lapse by themselves. */
const defaultAge = ({ host, scope }: Holder): number =>
  host === hostname() && scope !== undefined ? ABANDONED : Infinity

function isHeld(file: string, holder: Holder, { abandoned = defaultAge(holder) }: LockOptions): boolean {
  const state = processState(holder)
  if (state !== 'unknown') return state === 'running'
  const stats = statSync(file, { throwIfNoEntry: false })
  // The file's time may come from another machine's clock: a future time is treated like a past one.
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < abandoned
}

/** Shows processes elsewhere that the lock is not abandoned. Returns its release. */
function keepTouched(file: string, token: string): () => void {
  const isOwn = () => holderOf(file)?.token === token
  const touch = () => {
    const now = new Date()
    if (isOwn()) utimesSync(file, now, now)
    else clearInterval(timer)
  }
  const timer = setInterval(() => {
    try {
      touch()
    } catch {
      // Not touched for a while, a lock is still valid.
    }
  }, TOUCH_EVERY).unref()
  return () => {
    clearInterval(timer)
    if (isOwn()) rmSync(file, { force: true })
  }
}

function textOf(file: string): string | undefined {
  try {
    return readRegularFileSync(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
