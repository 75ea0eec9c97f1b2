import { open, rm, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../base/trouble.ts'

/** What is done under such a lock takes milliseconds: one this old, in milliseconds, was left behind by a process that was killed. */
const ABANDONED = 10_000
const PAUSE = 20

/** Does short work that no other process does at the same time: a lock file is held meanwhile, and waited for. */
export async function whileLocked<T>(lock: string, work: () => Promise<T>): Promise<T> {
  while (!(await acquire(lock))) await sleep(PAUSE)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function acquire(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const age = await stat(lock).then(
    // The file's time and this clock may be of two machines: a lock from the future is no younger than one from the past.
    ({ mtimeMs }) => Math.abs(Date.now() - mtimeMs),
    (error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
      return 0
    },
  )
  if (age > ABANDONED) await rm(lock, { force: true })
  return false
}
