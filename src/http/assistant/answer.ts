import type { AssistantAnswer } from '../../contract/assistant.ts'
import type { Emit } from '../../domain/assistant/assistant.ts'
import { EventStream } from '../event-stream.ts'

type AnswerBody = Omit<AssistantAnswer, 'ok'>

interface AnswerOptions {
  stream: boolean | undefined
  signal: AbortSignal
  report: (error: unknown) => void
}

/** Responds with one JSON body, or with server-sent events if requested. */
export function answer(
  { stream, signal, report }: AnswerOptions,
  make: (waiting: { signal: AbortSignal; emit: Emit }) => Promise<AnswerBody>,
): Promise<AnswerBody | EventStream> {
  if (!stream) return make({ signal, emit: () => undefined })
  return EventStream.begin(signal, (send) => make({ signal, emit: send }), report)
}
