/** Waits `ms` milliseconds; rejects with the signal's reason when aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

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

/** Sleeps until `ms` have passed or `onWake`'s function is called; rejects on abort. Leaves no listener on the signal. */
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
