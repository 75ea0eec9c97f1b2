import type { Static, TObject } from 'typebox'
import type { ModelFunction } from '../../../base/language-model.ts'
import type { AssistantAction } from '../../../contract/assistant.ts'
import type { Author } from '../../chat/chat.ts'
import type { ChangeSet } from '../ledger/change.ts'

/**
 * What a call does to the world; once untrusted text is in the conversation, the last two need the user's confirmation.
 * `reads`: nothing changes. `adds`: something new in the user's own files, which can be undone. `alters`: what is there is
 * changed or removed, or a program will act on it. `sends`: somebody else may learn of it.
 */
export type ToolEffect = 'reads' | 'adds' | 'alters' | 'sends'

/** Whose rights a tool has. */
export type Account = Author

export interface ToolCall {
  account: Account
  /** Set for a chat mention: the room it was made in. */
  room?: number
  conversation: number | undefined
  /** What this answer changes: tools change things through it alone. */
  changeSet: ChangeSet
  signal: AbortSignal
}

export interface ToolResult {
  /** What the model reads, at most 64 KiB. */
  text: string
  /** What the user's desktop is to do. */
  action?: AssistantAction
}

/** Something a model may ask for. A fault of `run` becomes the text of the result; anything else thrown is a bug. */
export interface Tool<P extends TObject = TObject> {
  name: string
  /** For the model. */
  description: string
  parameters: P
  /** The same for every call, or found by its arguments; throws the faults of `run`. */
  effect: ToolEffect | ((args: Static<P>) => ToolEffect)
  /** Whether its results and errors may hold text that others wrote (files, names, pages, messages), which may mislead a model. */
  untrusted: boolean
  run(call: ToolCall, args: Static<P>): Promise<ToolResult>
}

/** A tool as a model is told of it. */
export const functionOf = ({ name, description, parameters }: Tool): ModelFunction => ({
  name,
  description,
  parameters,
})

/** The tools offered to one caller: all, or a room's only. */
export type ToolsFor = (caller: { room?: number }) => Promise<Tool[]>
