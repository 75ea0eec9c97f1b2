import { lstat, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOUR, type Clock } from '../../base/clock.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../host/temporary-folder.ts'
import { isLocked, tryLock } from '../../host/file-lock.ts'

const PREFIX = 'svc-ephemeral-'
const LOCK = 'owner.lock'

/** A folder without its lock is about to get one, or its process was killed in between. */
const UNLOCKED_AGE = HOUR

/** Creates the data directory of a temporary server, and removes those of killed servers; a lock in each names its process. */
export async function makeEphemeralDirectory(clock: Clock): Promise<TemporaryFolder> {
  await removeAbandoned(tmpdir(), clock)
  const folder = await makeTemporaryFolder(PREFIX)
  tryLock(join(folder.path, LOCK))
  return folder
}

async function removeAbandoned(parent: string, clock: Clock): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    if (name.startsWith(PREFIX) && (await isAbandoned(path, clock))) await rm(path, { recursive: true, force: true })
  }
}

/** Any user can create such a name in the temporary folder, so only own folders are considered. */
async function isAbandoned(path: string, clock: Clock): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false
  const lock = join(path, LOCK)
  const hasLock = await lstat(lock).then(
    () => true,
    () => false,
  )
  return hasLock ? !isLocked(lock) : clock.now() - found.mtimeMs > UNLOCKED_AGE
}
