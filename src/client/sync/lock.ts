import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { randomHex } from '../../base/random.ts'
import { isRunning } from '../../host/running.ts'
import { cannotLink } from './placing.ts'
import { Held } from './refusals.ts'

/** Who holds a lock: a process is named by its number and the moment it began, because numbers are given again. */
interface Holder {
  pid: number
  host: string
  began: string
}

/**
 * Takes the lock of a root; the function it returns lets go of it. A lock whose process is gone is taken over. Throws `Held`
 * while another process has it.
 */
export function takeLock(file: string): () => void {
  const me: Holder = { pid: process.pid, host: hostname(), began: beginningOf(process.pid) ?? '' }
  const mine = `${file}.${randomHex(6)}`
  writeFileSync(mine, JSON.stringify(me), { mode: 0o600, flag: 'wx' })
  try {
    for (let tries = 0; tries < 3; tries += 1) {
      if (linkIfAbsent(mine, file)) return () => letGo(file, me)
      if (!removeStale(file)) break
    }
    throw held(file)
  } finally {
    rmSync(mine, { force: true })
  }
}

/** Whether a running process holds the lock. */
export function isLocked(file: string): boolean {
  const holder = read(file)
  return holder !== undefined && holdsOn(holder)
}

/** Throws `Held` when a running process holds the lock; leaves everything as it is. */
export function assertUnlocked(file: string): void {
  if (isLocked(file)) throw held(file)
}

function held(file: string): Held {
  const holder = read(file)
  return holder && holder.host !== hostname()
    ? new Held(`Another run on ${holder.host} holds this folder. If it is not running any more, remove ${file}.`)
    : new Held(`Another run (process ${holder?.pid ?? 'unknown'}) works on this folder: wait for it to end.`)
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
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Takes a lock away when its holder is gone: moves it aside and makes sure that it was that one and not a newer. */
function removeStale(file: string): boolean {
  const holder = read(file)
  if (holder && holdsOn(holder)) return false
  const aside = `${file}.${randomHex(6)}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw error
  }
  const taken = read(aside)
  // Somebody was faster, and this is their fresh lock: it goes back.
  if (taken && holdsOn(taken)) linkIfAbsent(aside, file)
  rmSync(aside, { force: true })
  return true
}

function letGo(file: string, me: Holder): void {
  const holder = read(file)
  if (holder?.pid === me.pid && holder.began === me.began && holder.host === me.host) rmSync(file, { force: true })
}

function read(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder
  } catch (error) {
    // A power cut may leave an empty lock: no process is named in it, so none holds it.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function holdsOn({ pid, host, began }: Holder): boolean {
  if (host !== hostname()) return true
  if (typeof pid !== 'number' || !isRunning(pid)) return false
  const now = beginningOf(pid)
  return now === undefined || now === began
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
