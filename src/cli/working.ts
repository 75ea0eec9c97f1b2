import type { Doing } from '../domain/backups/backups.ts'
import { Exit } from './exit.ts'
import { makeProgress, type Progress } from './progress.ts'

/** Runs work that shows how far it is, and ends in good order when the user or the system asks it to. */
export async function working<T>(label: string, work: (doing: Doing) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const interrupt = (): void => stop.abort(new Exit(130, 'Interrupted.', 'interrupted'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  let bar: Progress | undefined
  try {
    return await work({
      signal: stop.signal,
      progress: {
        total(bytes) {
          bar?.end()
          bar = makeProgress({ label, total: bytes })
        },
        add: (bytes) => bar?.add(bytes),
      },
    })
  } finally {
    bar?.end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt)
  }
}
