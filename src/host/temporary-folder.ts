import { rmSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY, HOUR } from '../base/clock.ts'
import { isLocked, tryLock } from './file-lock.ts'

export interface TemporaryFolder {
  path: string
  remove(): Promise<void>
}

/** Creates a folder for this process. It is deleted by `remove`, or when the process exits. */
export async function makeTemporaryFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix))
  const removeAtExit = (): void => rmSync(path, { recursive: true, force: true })
  process.once('exit', removeAtExit)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      process.off('exit', removeAtExit)
    },
  }
}

const LOCK = 'owner.lock'

/** A folder whose process cannot be checked, and whose lock was not touched for this long, is abandoned. */
const ABANDONED = DAY

/** A folder without its lock is about to get one, or its process was killed in between. */
const UNLOCKED_AGE = HOUR

/** The same, with a lock that names this process, after removing the folders of killed processes beside it. */
export async function makeLockedFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  await removeAbandoned(prefix, parent)
  const folder = await makeTemporaryFolder(prefix, parent)
  tryLock(join(folder.path, LOCK))
  return folder
}

/** Removes folders of `makeLockedFolder` whose processes were killed. */
export async function removeAbandoned(prefix: string, parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    if (name.startsWith(prefix) && (await isAbandoned(path))) await rm(path, { recursive: true, force: true })
  }
}

/** Any user can create such a name in the temporary folder, so only own folders are considered. */
async function isAbandoned(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false
  const lock = join(path, LOCK)
  const hasLock = await lstat(lock).then(
    () => true,
    () => false,
  )
  return hasLock ? !isLocked(lock, { abandoned: ABANDONED }) : Date.now() - found.mtimeMs > UNLOCKED_AGE
}
