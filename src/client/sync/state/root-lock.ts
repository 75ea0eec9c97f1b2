import { holderOf, isLocked, tryLock } from '../../../host/file-lock.ts'
import { processState } from '../../../host/process-identity.ts'
import { FolderLocked } from '../sync-errors.ts'

/** Takes the lock of a root and returns its release. Throws `FolderLocked` while another process holds it. */
export function takeLock(file: string): () => void {
  const letGo = tryLock(file)
  if (!letGo) throw lockedError(file)
  return letGo
}

/** Throws `FolderLocked` if a running process holds the lock; changes nothing. */
export function assertUnlocked(file: string): void {
  if (isLocked(file)) throw lockedError(file)
}

function lockedError(file: string): FolderLocked {
  const holder = holderOf(file)
  return holder && processState(holder) === 'unknown'
    ? new FolderLocked(`Another run on ${holder.host} uses this folder. If it no longer runs, remove ${file}.`)
    : new FolderLocked(`Another run (process ${holder?.pid ?? 'unknown'}) uses this folder: wait for it to end.`)
}
