import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { MINUTE } from '../../base/clock.ts'
import { holderOf, tryLock } from '../../host/file-lock.ts'
import type { DataDirectory } from './data-directory.ts'

/** How often a server shows that its claim is current, ms. */
const CLAIM_TOUCH = MINUTE

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
    const release = tryLock(file, { abandoned: 3 * CLAIM_TOUCH })
    if (release) {
      // Whether a holder on another machine, or in a container that is gone, still runs is seen by the age.
      const touch = () => utimes(file, new Date(), new Date()).catch(() => undefined)
      const timer = setInterval(() => void touch(), CLAIM_TOUCH).unref()
      return () => {
        clearInterval(timer)
        release()
      }
    }
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
