import { hostname } from 'node:os'
import { holderOf, isLocked, tryLock } from '../../../host/file-lock.ts'
import { FolderLocked } from '../sync-errors.ts'

/** Takes the lock of a root; the function it returns lets go of it. Throws `FolderLocked` while another process has it. */
export function takeLock(file: string): () => void {
  const letGo = tryLock(file)
  if (!letGo) throw lockedError(file)
  return letGo
}

/** Throws `FolderLocked` when a running process holds the lock; leaves everything as it is. */
export function assertUnlocked(file: string): void {
  if (isLocked(file)) throw lockedError(file)
}

function lockedError(file: string): FolderLocked {
  const holder = holderOf(file)
  return holder && holder.host !== hostname()
    ? new FolderLocked(
        `Another run on ${holder.host} holds this folder. If it is not running any more, remove ${file}.`,
      )
    : new FolderLocked(`Another run (process ${holder?.pid ?? 'unknown'}) works on this folder: wait for it to end.`)
}
