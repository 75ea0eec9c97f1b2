import type { Sleep } from './pace.ts'

/**
 * Sleeps for `ms`, or until the function handed to `onWake` is called; rejects when the signal is aborted. Unlike `AbortSignal.any`
 * it leaves nothing behind on a signal that lives long.
 */
export async function doze(
  sleep: Sleep,
  ms: number,
  signal: AbortSignal,
  onWake: (wake: () => void) => void,
): Promise<void> {
  signal.throwIfAborted()
  const woken = new AbortController()
  const wake = (): void => woken.abort()
  signal.addEventListener('abort', wake, { once: true })
  onWake(wake)
  try {
    await sleep(ms, woken.signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!woken.signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', wake)
  }
}
