import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MINUTE, SECOND } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { withRetry } from '../../base/retry.ts'
import { errorCode } from '../../base/errors.ts'
import { mayBeRunning, ownIdentity, type Holder as Process } from '../../host/file-lock.ts'

// Who works in a repository leaves a file there and touches it now and then. It may lie on a disk that several machines
// share, so that only the disk's own clock and, for processes of this machine, their numbers can tell who is gone.

/** Somebody else works there in a way that does not go together with this. */
class RepositoryBusy extends Error {
  override name = 'RepositoryBusy'
  readonly exitCode = 6
  readonly code = 'locked'
}

/** `shared` adds to the repository, as often as anybody likes at once; `exclusive` takes away. */
export type LockKind = 'shared' | 'exclusive'

export interface RepositoryLock {
  id: string
  /** Throws when the lock was taken away meanwhile: this process slept, and others believed it dead. */
  assertHeld(): Promise<void>
  release(): Promise<void>
}

interface Holder extends Process {
  kind: LockKind
  purpose: string
}

const TOUCH_EVERY = 30 * SECOND
/** Untouched for so long, its holder is believed dead. */
const ABANDONED = 10 * MINUTE
/** Two processes that come at once turn each other away, and must not meet again: delays vary. */
const RETRY = { first: 50, longest: 100, timeLimit: SECOND, jitter: 0.8 }

/** What a lock file says; undefined when it is gone again, or was cut off and says nothing. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const { kind, purpose, host, pid, began } = JSON.parse(await readFile(path, 'utf8')) as Holder
    const isWhole = (kind === 'shared' || kind === 'exclusive') && typeof host === 'string' && typeof pid === 'number'
    return isWhole ? { kind, purpose: String(purpose), host, pid, began } : undefined
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

/** The locks that stand in a folder; those of the dead are removed. */
export async function standingLocks(folder: string, now: number): Promise<{ id: string; holder: Holder }[]> {
  const standing: { id: string; holder: Holder }[] = []
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const [holder, at] = [await holderOf(path), await touched(path)]
    if (at === undefined) continue
    if (now - at > ABANDONED || (holder && !mayBeRunning(holder))) await rm(path, { force: true })
    else if (holder) standing.push({ id: name, holder })
  }
  return standing
}

/** Takes a lock, or throws `RepositoryBusy` after a moment, naming who has it. `purpose` is shown to others that are turned away. */
export async function lockRepository(folder: string, kind: LockKind, purpose: string): Promise<RepositoryLock> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const isTemporary = (error: unknown) => error instanceof RepositoryBusy
  return withRetry(() => tryLock(folder, { kind, purpose, ...ownIdentity() }), { ...RETRY, isTemporary })
}

async function tryLock(folder: string, own: Holder): Promise<RepositoryLock> {
  const id = randomHex(8)
  const path = join(folder, id)
  await writeFile(path, JSON.stringify(own), { mode: 0o600, flag: 'wx' })
  // Written anew, so that the time is that of the disk; a lock that was taken away is not brought back.
  const touch = () => writeFile(path, JSON.stringify(own), { flag: 'r+' })
  const timer = setInterval(() => void touch().catch(() => undefined), TOUCH_EVERY)
  timer.unref()
  const release = async () => {
    clearInterval(timer)
    await rm(path, { force: true })
  }
  try {
    const others = (await standingLocks(folder, (await touched(path)) ?? Date.now())).filter((lock) => lock.id !== id)
    const other = others.find(({ holder }) => own.kind === 'exclusive' || holder.kind === 'exclusive')
    if (other) {
      const { purpose, pid, host } = other.holder
      throw new RepositoryBusy(
        `The backups are in use: ${purpose}, process ${pid} on ${host}. Wait until it has ended, and run this again.`,
      )
    }
  } catch (error) {
    await release()
    throw error
  }
  return {
    id,
    async assertHeld() {
      if ((await touched(path)) === undefined)
        throw new RepositoryBusy('This run stood still too long and lost its lock on the backups: run it again.')
    },
    release,
  }
}
