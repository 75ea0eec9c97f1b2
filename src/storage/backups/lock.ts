import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MINUTE, SECOND } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { withRetry } from '../../base/retry.ts'
import { errorCode } from '../../base/errors.ts'
import { ownIdentity, processState } from '../../host/process-identity.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import { tryBucketLock } from './bucket-lock.ts'
import {
  busy,
  excludes,
  LostLock,
  RepositoryBusy,
  type Holder,
  type LockKind,
  type RepositoryLock,
} from './lock-holder.ts'
import { isBucket } from './repository-path.ts'

// Each process that works in a repository keeps a lock file there and touches it regularly. The disk may be shared by
// several machines and containers, so that only its own clock and, for processes of this machine or container, their
// PIDs tell which locks are stale.

export { LostLock, type LockKind, type RepositoryLock } from './lock-holder.ts'

const TOUCH_EVERY = 30 * SECOND
/** A lock untouched for this long is stale. */
const ABANDONED = 10 * MINUTE
/** Two processes that start together refuse each other and must not collide again: delays vary. */
const RETRY = { first: 50, longest: 100, timeLimit: SECOND, jitter: 0.8 }

/** Reads a lock file; undefined if it is gone or truncated. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const { kind, purpose, host, pid, began, scope } = (JSON.parse(await readRegularFile(path)) ?? {}) as Holder
    const isWhole = (kind === 'shared' || kind === 'exclusive') && typeof host === 'string' && typeof pid === 'number'
    return isWhole ? { kind, purpose: String(purpose), host, pid, began, scope } : undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

const touched = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    (error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
      return undefined
    },
  )

/** The current locks of a folder; stale ones are removed. */
export async function currentLocks(folder: string, now: number): Promise<{ id: string; holder: Holder }[]> {
  const current: { id: string; holder: Holder }[] = []
  if (isBucket(folder)) return current
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const [holder, at] = [await holderOf(path), await touched(path)]
    if (at === undefined) continue
    if (now - at > ABANDONED || (holder && processState(holder) === 'ended')) await rm(path, { force: true })
    else if (holder) current.push({ id: name, holder })
  }
  return current
}

/** Waits briefly, then throws `RepositoryBusy` with the holder. `purpose` is shown to others who are refused. */
export async function lockRepository(folder: string, kind: LockKind, purpose: string): Promise<RepositoryLock> {
  const own = { kind, purpose, ...ownIdentity() }
  if (!isBucket(folder)) await mkdir(folder, { recursive: true, mode: 0o700 })
  const isTemporary = (error: unknown) => error instanceof RepositoryBusy
  return withRetry(() => (isBucket(folder) ? tryBucketLock(folder, own) : tryLock(folder, own)), {
    ...RETRY,
    isTemporary,
  })
}

async function tryLock(folder: string, own: Holder): Promise<RepositoryLock> {
  const id = randomHex(8)
  const path = join(folder, id)
  await writeFile(path, JSON.stringify(own), { mode: 0o600, flag: 'wx' })
  // Rewrite the file, so that the disk sets the time; a removed lock is not created again.
  const touch = () => writeFile(path, JSON.stringify(own), { flag: 'r+' })
  const timer = setInterval(() => void touch().catch(() => undefined), TOUCH_EVERY)
  timer.unref()
  const release = async () => {
    clearInterval(timer)
    await rm(path, { force: true })
  }
  try {
    const others = (await currentLocks(folder, (await touched(path)) ?? Date.now())).filter((lock) => lock.id !== id)
    const other = others.find(({ holder }) => excludes(own, holder))
    if (other) throw busy(other.holder)
  } catch (error) {
    await release()
    throw error
  }
  return {
    id,
    async assertHeld() {
      if ((await touched(path)) === undefined) throw new LostLock()
    },
    release,
  }
}
