import type { ModelCall, ModelMessage } from '../../base/language-model.ts'
import type { AssistantAction, AssistantEvents } from '../../contract/assistant.ts'
import type { CallContext } from './tools/tool-calls.ts'
import type { Choice } from './models/models.ts'
import { readable } from './model-text.ts'

export interface Thread {
  model: string
  messages: ModelMessage[]
  /** Index of the question; earlier messages may be dropped to fit the context window. */
  question: number
}

/** The whole state of an answer in progress; stored as JSON while it waits for a confirmation. */
export interface Run {
  /** The model that answers the user, if another one works for it. */
  speaker?: Thread & {
    /** The calls of the reply that delegated the task; undefined before, and for a speaker without function calling. */
    handed?: ModelCall[]
  }
  /** The model with the tools. */
  worker: Thread
  /** Calls of the worker's last reply that are not executed yet; those beyond the bound only get an error. */
  due: (ModelCall & { isTooMany?: true })[]
  rounds: number
  calls: number
  tainted: boolean
  /** The text sent to the user. */
  said: string
  actions: AssistantAction[]
  /** Tokens used since this was last stored. */
  tokens: number
}

type Emitted = 'delta' | 'tool' | 'action'

/** Sends an event to the client; resolves when it can take more. */
export type Emit = <E extends Emitted>(event: E, data: AssistantEvents[E]) => void | Promise<void>

export interface RunContext extends Pick<CallContext, 'account' | 'room' | 'tools' | 'signal'> {
  choice: Choice
  /** The conversation and the change set of the calls; opened before the first call. */
  scope: () => Promise<Pick<CallContext, 'conversation' | 'changeSet'>>
  emit: Emit
}

/** Streams text to the user; a new reply begins a new paragraph. */
export function textEmitter(run: Run, emit: Emit): (chunk: string) => Promise<void> {
  let isFirst = run.said === ''
  return async (chunk) => {
    const text = isFirst ? readable(chunk) : readable(chunk).trimStart()
    if (text === '') return
    const whole = isFirst ? text : `\n\n${text}`
    isFirst = true
    run.said += whole
    await emit('delta', { text: whole })
  }
}

export const newRun = (worker: Thread, tainted: boolean): Run => ({
  worker,
  due: [],
  rounds: 0,
  calls: 0,
  tainted,
  said: '',
  actions: [],
  tokens: 0,
})
