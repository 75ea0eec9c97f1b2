import type { Static, TObject } from 'typebox'
import type { ModelFunction } from '../../../base/language-model.ts'
import type { AssistantAction } from '../../../contract/assistant.ts'
import type { Author } from '../../chat/chat.ts'
import type { ChangeSet } from '../ledger/recorded-change.ts'

/**
 * The effect of a call. `reads`: nothing changes. `adds`: creates something in the user's own files, which can be undone.
 * `alters`: changes or removes something, or creates what a program will act on. `sends`: somebody else may learn of it.
 * `alters` and `sends` need confirmation once the conversation contains untrusted text.
 */
export type ToolEffect = 'reads' | 'adds' | 'alters' | 'sends'

/** The user whose rights a tool has. */
export type Account = Author

export interface ToolCall {
  account: Account
  room?: number
  conversation: number | undefined
  /** The change set of the answer; every change goes through it. */
  changeSet: ChangeSet
  signal: AbortSignal
}

export interface ToolResult {
  /** The text for the model, at most 64 KiB. */
  text: string
  /** An action for the user's desktop. */
  action?: AssistantAction
}

/** A function a model may call. A fault of `run` becomes the text of the result; anything else thrown is a bug. */
export interface Tool<P extends TObject = TObject> {
  name: string
  description: string
  parameters: P
  /** Constant, or derived from the arguments; throws the faults of `run`. */
  effect: ToolEffect | ((args: Static<P>) => ToolEffect)
  /** Whether results and errors may contain text of others (files, pages, messages), which may mislead a model. */
  untrusted: boolean
  run(call: ToolCall, args: Static<P>): Promise<ToolResult>
}

export const functionOf = ({ name, description, parameters }: Tool): ModelFunction => ({
  name,
  description,
  parameters,
})

/** The tools of a user, or those of a room. */
export type ToolsFor = (caller: { room?: number }) => Promise<Tool[]>
