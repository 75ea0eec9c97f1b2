import type { JobContext } from '../domain/backups/backups.ts'
import { interruptible } from './interruption.ts'
import { makeProgress, type Progress } from './progress.ts'

/** Runs work that shows how far it is, and ends in good order when the user or the system asks it to. */
export async function working<T>(label: string, work: (job: JobContext) => Promise<T>): Promise<T> {
  let bar: Progress | undefined
  const progress = {
    total(bytes: number) {
      bar?.end()
      bar = makeProgress({ label, total: bytes })
    },
    add: (bytes: number) => bar?.add(bytes),
  }
  try {
    return await interruptible('Interrupted.', (signal) => work({ signal, progress }))
  } finally {
    bar?.end()
  }
}
