import type { AssistantAnswer } from '../../contract/assistant.ts'
import type { Emit } from '../../domain/assistant/assistant.ts'
import { EventStream } from '../event-stream.ts'

type Answered = Omit<AssistantAnswer, 'ok'>

interface Wanted {
  stream: boolean | undefined
  signal: AbortSignal
  report: (error: unknown) => void
}

/** Answers with one JSON body, or with server-sent events when the client asks for them. */
export function answer(
  { stream, signal, report }: Wanted,
  make: (waiting: { signal: AbortSignal; emit: Emit }) => Promise<Answered>,
): Promise<Answered | EventStream> {
  if (!stream) return make({ signal, emit: () => undefined })
  return EventStream.begin(signal, (send) => make({ signal, emit: send }), report)
}
