import type { AnyAction } from '../../contract/contract.ts'
import { assistant, type AssistantAnswer, type AssistantEvents } from '../../contract/assistant.ts'
import type { Params } from '../../contract/define.ts'
import { errors, fault, type ErrorCode } from '../../contract/errors.ts'
import { discard, foreignResponse } from '../http/response.ts'
import type { Api } from '../api.ts'
import { Unreachable } from '../errors.ts'
import { serverSentEvents } from './event-stream.ts'

export type Question = Omit<Params<typeof assistant.actions.ask>, 'stream'>

/** Events of an answer in order; the last one is `done`. */
export type AskEvent = {
  [name in Exclude<keyof AssistantEvents, 'error'>]: { event: name; data: AssistantEvents[name] }
}[Exclude<keyof AssistantEvents, 'error'>]

/** A tool call that needs the user's permission. */
export type Confirmation = Extract<AssistantAnswer['actions'][number], { type: 'confirm' }>['data']

/** Time limit without output, ms: models may think for a long time. */
const PATIENCE = 180_000

const EVENTS = new Set<string>(['delta', 'tool', 'action', 'done'] satisfies AskEvent['event'][])

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(errors, code)

/** Asks the assistant. Throws faults of the server, also in the middle of an answer. */
export function makeAskClient(api: Api) {
  async function* events(action: AnyAction, params: object, signal: AbortSignal): AsyncGenerator<AskEvent> {
    const streamed = { ...params, stream: true }
    const answer = await api.receive(action as never, streamed as never, { signal, timeout: PATIENCE })
    const type = answer.headers['content-type'] ?? 'no content type'
    if (!/^text\/event-stream\b/i.test(type)) {
      await discard(answer)
      throw foreignResponse(api.url, answer.status, type.slice(0, 100))
    }
    for await (const { event, data } of serverSentEvents(answer.body)) {
      if (event === 'error') {
        const { error: text, code } = JSON.parse(data) as AssistantEvents['error']
        throw fault(isCode(code) ? code : 'internal', { text })
      }
      if (!EVENTS.has(event)) continue
      yield { event, data: JSON.parse(data) as unknown } as AskEvent
      if (event === 'done') return
    }
    throw new Unreachable('The connection was lost in the middle of the answer; ask again.', { outcomeUnknown: true })
  }

  /** The answer without a stream, at its end. */
  async function* whole(action: AnyAction, params: object, signal: AbortSignal): AsyncGenerator<AskEvent> {
    const data = await api.call(action as never, params as never, { signal, timeout: PATIENCE })
    yield { event: 'done', data: data as AssistantAnswer }
  }

  return {
    /** Asks a question. With `stream` off the only event is `done`. */
    ask: (question: Question, { stream, signal }: { stream: boolean; signal: AbortSignal }) =>
      (stream ? events : whole)(assistant.actions.ask, question, signal),

    /** Answers a confirmation of the assistant, and continues the stream. */
    confirm: (confirmation_id: string, allow: boolean, { stream, signal }: { stream: boolean; signal: AbortSignal }) =>
      (stream ? events : whole)(assistant.actions.confirm, { confirmation_id, allow }, signal),
  }
}

export type AskClient = ReturnType<typeof makeAskClient>
