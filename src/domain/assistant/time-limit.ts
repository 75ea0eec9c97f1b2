import { ModelError } from '../../base/language-model.ts'
import { fault } from '../../contract/errors.ts'
import { unanswered } from './models/models.ts'

/** Runs `work` within the time limit of an answer, ms. `ModelError` becomes a fault. */
export async function withTimeLimit<T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(ms)
  try {
    return await work(AbortSignal.any([signal, timeout]))
  } catch (error) {
    if (error instanceof ModelError) throw unanswered(error)
    if (timeout.aborted && !signal.aborted)
      throw fault('assistant_unavailable', { text: 'The answer took too long; ask for less at a time.' })
    throw error
  }
}
