import { MINUTE, SECOND } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { mayBeRunning } from '../../host/file-lock.ts'
import { buffer } from 'node:stream/consumers'
import { errorCode } from '../../base/errors.ts'
import { objectsBelow, openObject, putBytes } from './bucket.ts'
import { within } from './repository-path.ts'
import { busy, excludes, lostLock, type Holder, type RepositoryLock } from './lock-holder.ts'

// Locks of a repository in a bucket. A released one is an empty object, because the key may not be allowed to remove it; this process uses
// its name again.

const RENEW_EVERY = 30 * SECOND
const ABANDONED = 10 * MINUTE

const released = new Map<string, string[]>()

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const file = await openObject(path)
    return JSON.parse(String(await buffer(file.read(0, file.size)))) as Holder
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

async function otherHolders(folder: string, own: string): Promise<Holder[]> {
  const others: Holder[] = []
  for await (const { name, size, age } of objectsBelow(folder)) {
    if (name === own || size === 0 || age > ABANDONED) continue
    const holder = await holderOf(within(folder, name))
    if (holder && mayBeRunning(holder)) others.push(holder)
  }
  return others
}

/** Throws `RepositoryBusy` with the holder. */
export async function tryBucketLock(folder: string, own: Holder): Promise<RepositoryLock> {
  const free = released.get(folder) ?? []
  released.set(folder, free)
  const id = free.pop() ?? randomHex(8)
  const path = within(folder, id)
  let renewedAt = performance.now()
  let isHeld = true
  const renew = async (): Promise<void> => {
    const at = performance.now()
    if (isHeld) await putBytes(path, Buffer.from(JSON.stringify(own)))
    renewedAt = at
  }
  await renew()
  let renewing = Promise.resolve()
  const timer = setInterval(() => void (renewing = renew().catch(() => undefined)), RENEW_EVERY)
  timer.unref()
  const release = async () => {
    clearInterval(timer)
    isHeld = false
    await renewing
    await putBytes(path, Buffer.alloc(0))
    free.push(id)
  }
  try {
    const other = (await otherHolders(folder, id)).find((holder) => excludes(own, holder))
    if (other) throw busy(other)
  } catch (error) {
    await release().catch(() => undefined)
    throw error
  }
  return {
    id,
    async assertHeld() {
      if (performance.now() - renewedAt > ABANDONED / 2) await renew()
      if (performance.now() - renewedAt > ABANDONED) throw lostLock()
    },
    release,
  }
}
