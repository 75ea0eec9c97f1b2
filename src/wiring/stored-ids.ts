import { SECOND } from '../base/clock.ts'
import { problemText } from '../base/errors.ts'
import { idsIn } from '../storage/backups/stored-manifests.ts'
import { environment } from './config/environment.ts'
import { openPlace } from './installation/backup-place.ts'

/** The time in which a place has to answer, ms. */
const TIMEOUT = 5 * SECOND

/** Asks a place of backups, or says why it cannot be read. Disks and buckets that do not answer are given up after `timeout` ms. */
export async function askPlace<T>(
  to: string,
  ask: (place: string) => Promise<T>,
  { timeout = TIMEOUT, env = environment } = {},
): Promise<{ answer: T } | { problem: string }> {
  const late = AbortSignal.timeout(timeout)
  let close: (() => void) | undefined
  try {
    const opened = openPlace(to, env, late)
    close = opened.close
    const silent = new Promise<never>((_, reject) =>
      late.addEventListener('abort', () => reject(new Error(`${to} does not answer.`)), { once: true }),
    )
    return { answer: await Promise.race([ask(opened.place), silent]) }
  } catch (error) {
    return { problem: problemText(error) }
  } finally {
    close?.()
  }
}

/** The ids of the backups in a place, oldest first, or why it cannot be read. */
export async function storedIds(to: string): Promise<{ ids: string[]; problem?: string }> {
  const found = await askPlace(to, idsIn)
  return 'answer' in found ? { ids: found.answer } : { ids: [], problem: found.problem }
}
