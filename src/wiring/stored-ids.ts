import { SECOND } from '../base/clock.ts'
import { fileProblem } from '../base/errors.ts'
import { idsIn } from '../storage/backups/stored-manifests.ts'
import { environment } from './config/environment.ts'
import { openPlace } from './installation/backup-place.ts'

/** The time in which a place has to answer, ms. */
const TIMEOUT = 5 * SECOND

/** The ids of the backups in a place, oldest first, or why it cannot be read. Disks and buckets that do not answer are given up. */
export async function storedIds(to: string, env = environment): Promise<{ ids: string[]; problem?: string }> {
  const late = AbortSignal.timeout(TIMEOUT)
  let close: (() => void) | undefined
  try {
    const opened = openPlace(to, env, late)
    close = opened.close
    const silent = new Promise<never>((_, reject) =>
      late.addEventListener('abort', () => reject(new Error(`${to} does not answer.`)), { once: true }),
    )
    return { ids: await Promise.race([idsIn(opened.place), silent]) }
  } catch (error) {
    return { ids: [], problem: fileProblem(error) ?? (error as Error).message }
  } finally {
    close?.()
  }
}
