import type { ModelCall, ModelMessage } from '../../base/language-model.ts'
import type { AssistantAction, AssistantEvents } from '../../contract/assistant.ts'
import type { CallContext } from './tools/calls.ts'
import type { Choice } from './models/models.ts'
import { readable } from './text.ts'

/** What is said to one model. */
export interface Thread {
  model: string
  messages: ModelMessage[]
  /** Index of the question: what stands before it may be left out. */
  question: number
}

/** An answer in the making, all of it: it can be stored while a confirmation is waited for. */
export interface Run {
  /** The model that speaks, where another one works for it. */
  speaker?: Thread & {
    /** The reply's calls, the first of which handed the task over; undefined before, and for a speaker that calls nothing. */
    handed?: ModelCall[]
  }
  /** The model with the tools. */
  worker: Thread
  /** Calls of the worker's last reply that are still to be carried out; those beyond the bound only get their error. */
  due: (ModelCall & { isTooMany?: true })[]
  rounds: number
  calls: number
  tainted: boolean
  /** What the user was told. */
  said: string
  actions: AssistantAction[]
  /** Tokens used since this was last stored. */
  tokens: number
}

type Emitted = 'delta' | 'tool' | 'action'

/** Tells whoever waits what happens; resolves when there is room for more. */
export type Emit = <E extends Emitted>(event: E, data: AssistantEvents[E]) => void | Promise<void>

/** What a run goes by. */
export interface RunContext extends Pick<CallContext, 'account' | 'room' | 'tools' | 'signal'> {
  choice: Choice
  /** Where calls belong; asked for before the first of them. */
  place: () => Promise<Pick<CallContext, 'conversation' | 'changeSet'>>
  emit: Emit
}

/** Says something to the user, as it comes; what begins anew stands apart from what was said before. */
export function textEmitter(run: Run, emit: Emit): (piece: string) => Promise<void> {
  let isBegun = run.said === ''
  return async (piece) => {
    const text = isBegun ? readable(piece) : readable(piece).trimStart()
    if (text === '') return
    const whole = isBegun ? text : `\n\n${text}`
    isBegun = true
    run.said += whole
    await emit('delta', { text: whole })
  }
}
