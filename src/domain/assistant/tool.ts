import type { Static, TObject } from 'typebox'
import type { AssistantAction } from '../../contract/assistant.ts'
import type { Author } from '../chat/chat.ts'
import type { ChangeSet } from './change.ts'

/** What a tool may do to the world; decides what needs the user's confirmation once untrusted text is in the conversation. */
export type Reach = 'reads' | 'changes' | 'irreversible' | 'sends'

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
  /** The text of files, pages and other people: a model may be misled by it. */
  untrusted?: boolean
  /** What the user's desktop is to do. */
  action?: AssistantAction
}

/** Something a model may ask for. A fault of `run` becomes the text of the result; anything else thrown is a bug. */
export interface Tool<P extends TObject = TObject> {
  name: string
  /** For the model. */
  description: string
  parameters: P
  reach: Reach
  run(call: ToolCall, args: Static<P>): Promise<ToolResult>
}

/** The tools offered to one caller: all, or a room's only. */
export type ToolsFor = (caller: { account: Account; room?: number }) => Promise<Tool[]>
