import { join } from 'node:path'
import { MINUTE } from '../../base/clock.ts'
import { holderOf, tryLock } from '../../host/file-lock.ts'
import type { DataDirectory } from './data-directory.ts'

/** A claim untouched for this long is that of a container that is gone. */
const ABANDONED = 3 * MINUTE

/**
 * Logs that another server works on the same directory: by mistake, since each makes scheduled backups and counts rate
 * limits by itself. Returns a function that ends this server's claim.
 */
export function claimDirectory(
  directory: DataDirectory,
  log: { warn(fields: object, text: string): void },
): () => void {
  const file = join(directory.path, 'server.lock')
  try {
    const release = tryLock(file, { abandoned: ABANDONED })
    if (release) return release
    const { pid, host } = holderOf(file) ?? {}
    log.warn(
      { pid, host },
      `Another server (process ${pid} on ${host}) works on ${directory.path}. If that is not intended, stop one of them.`,
    )
  } catch {
    // On a full disk, a server still starts and can be read.
  }
  return () => undefined
}
