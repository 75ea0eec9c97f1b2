/** Waits until `ms` have passed; rejects with the signal's reason when it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

/** Sleeps by the clock of the machine. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/**
 * Sleeps for `ms`, or until the function handed to `onWake` is called; rejects when the signal is aborted. Unlike `AbortSignal.any`
 * it leaves nothing behind on a signal that lives long.
 */
export async function interruptibleSleep(
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
