import { describeError } from './api-error.ts'
import { entryWords } from './entry-words.ts'
import { toast } from './toast.tsx'

/** Says what has happened, and why not all of it, and offers to undo it. An undo that fails can be tried again. */
export function offerUndo(
  text: string,
  undo: () => Promise<void>,
  { error, tone = error === undefined ? 'good' : 'bad' }: { error?: unknown; tone?: 'good' | 'bad' } = {},
): void {
  const run = (): void => void undo().catch((reason: unknown) => offerUndo(text, undo, { error: reason }))
  const shown = error === undefined ? text : `${text}\n${describeError(error)}`
  toast(shown, { tone, action: { label: entryWords('undo'), run } })
}
