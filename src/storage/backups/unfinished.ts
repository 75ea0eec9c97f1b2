import { createHash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DAY } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { isRunning } from '../../host/running.ts'

// An archive stands in a folder of the user's, which holds no locks: the name of an unfinished one says who writes it.

const NAME = /^\.svc-archive-([0-9a-f]{12})-(\d{1,10})-[0-9a-f]{12}\.tmp$/

/** Whoever writes an archive touches it all the time: one of elsewhere that nobody touched for so long was left behind. */
const ABANDONED = DAY

/** Names where the number of a process means something: this machine, and where containers share it, the one of them. */
function here(): string {
  let processes = ''
  try {
    processes = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux tells.
  }
  return createHash('sha256').update(`${hostname()}\n${processes}`).digest('hex').slice(0, 12)
}

/** The name of an archive while this process writes it. */
export const unfinishedName = (): string => `.svc-archive-${here()}-${process.pid}-${randomHex(6)}.tmp`

/** Removes from a folder what was left by processes that were killed while they wrote an archive there; never what is being written. */
export async function clearUnfinished(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, place, pid] = NAME.exec(name) ?? []
    if (place === undefined) continue
    const path = join(folder, name)
    const isGone = place === here() && !isRunning(Number(pid))
    // What belongs to somebody else may not be removed, and stays.
    if (isGone || (await isAbandoned(path, now))) await rm(path, { force: true }).catch(() => undefined)
  }
}

const isAbandoned = (path: string, now: number): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => now - mtimeMs > ABANDONED,
    () => false,
  )
