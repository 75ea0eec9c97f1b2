import { ModelTrouble } from '../../base/language-model.ts'
import { fault } from '../../contract/errors.ts'
import { unanswered } from './models/models.ts'

/** Does `part` within the time (ms) of one answer; trouble with the models becomes a fault. */
export async function withinTime<T>(
  signal: AbortSignal,
  ms: number,
  part: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(ms)
  try {
    return await part(AbortSignal.any([signal, late]))
  } catch (error) {
    if (error instanceof ModelTrouble) throw unanswered(error)
    if (late.aborted && !signal.aborted)
      throw fault('assistant_unavailable', { text: 'The answer took too long; ask for less at a time.' })
    throw error
  }
}
