import { setTimeout } from 'node:timers/promises'
import { ModelTrouble } from '../base/language-model.ts'

/** Waits for so many ms; rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>

export const realSleep: Sleep = (ms, signal) => setTimeout(ms, undefined, { signal })

/** The least pauses before a model is asked again, ms; there are no more tries than these. */
const PAUSES = [500, 2_000, 5_000]

/** All pauses of one question together, ms: somebody waits for the answer. */
const ALTOGETHER = 30_000

/**
 * Asks a model, and asks again where its server takes no request for the moment (429, 503), after the time it names. What
 * it would have to wait too long for is thrown at once. Only for what fails before anything was said.
 */
export async function patiently<T>(ask: () => Promise<T>, sleep: Sleep, signal: AbortSignal): Promise<T> {
  let left = ALTOGETHER
  for (const least of PAUSES) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ModelTrouble) || (error.kind !== 'limited' && error.kind !== 'busy')) throw error
      const pause = Math.max(least, (error.retryAfter ?? 0) * 1_000)
      if (pause > left) throw error
      left -= pause
      await sleep(pause, signal)
    }
  }
  return ask()
}
