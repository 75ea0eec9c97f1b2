import { MINUTE, SECOND } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { processState } from '../../host/process-identity.ts'
import { buffer } from 'node:stream/consumers'
import { errorCode } from '../../base/errors.ts'
import { objectsBelow, openObject, putBytes } from './bucket.ts'
import { within } from './repository-path.ts'
import { busy, excludes, LostLock, type Holder, type RepositoryLock } from './lock-holder.ts'

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
    if (holder && processState(holder) !== 'ended') others.push(holder)
  }
  return others
}

/** When a lock was renewed. The steady clock stands still while the machine sleeps; the other one may be set. */
const moment = () => ({ steady: performance.now(), wall: Date.now() })

const since = ({ steady, wall }: ReturnType<typeof moment>): number =>
  Math.max(performance.now() - steady, Math.abs(Date.now() - wall))

/** The age of a lock by the clock of the store, ms. */
async function ageOf(folder: string, id: string): Promise<number> {
  for await (const { name, size, age } of objectsBelow(folder)) if (name === id && size > 0) return age
  return Infinity
}

/** Keeps a lock that was just stored from lapsing. */
function keepRenewed(folder: string, id: string, own: Holder) {
  let renewedAt = moment()
  let isLost = false

  /** Renews the lock unless it lapsed: then others may have removed what it protected, and it stays lost. */
  async function renew(): Promise<void> {
    const begun = moment()
    let age = since(renewedAt)
    const isOld = age > ABANDONED / 2
    if (isOld) age = await ageOf(folder, id)
    if (!isLost && age <= ABANDONED) await putBytes(within(folder, id), Buffer.from(JSON.stringify(own)))
    // A request may be sent again after the machine slept.
    isLost ||= age + since(begun) > ABANDONED
    isLost ||= isOld && (await otherHolders(folder, id)).some((holder) => excludes(own, holder))
    if (isLost) throw new LostLock()
    renewedAt = begun
  }

  let renewing = Promise.resolve()
  const timer = setInterval(() => void (renewing = renew().catch(() => undefined)), RENEW_EVERY)
  timer.unref()
  return {
    async assertHeld() {
      if (isLost || since(renewedAt) > ABANDONED / 2) await renew()
    },
    async end() {
      clearInterval(timer)
      await renewing
      isLost = true
    },
  }
}

/** Throws `RepositoryBusy` with the holder. */
export async function tryBucketLock(folder: string, own: Holder): Promise<RepositoryLock> {
  const free = released.get(folder) ?? []
  released.set(folder, free)
  const id = free.pop() ?? randomHex(8)
  const path = within(folder, id)
  await putBytes(path, Buffer.from(JSON.stringify(own)))
  const { assertHeld, end } = keepRenewed(folder, id, own)
  const release = async () => {
    await end()
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
  return { id, assertHeld, release }
}
