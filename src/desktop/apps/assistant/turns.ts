import type { AssistantAction, AssistantEvents } from '../../../contract/assistant.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import type { Picture } from './attached-picture.ts'

export type ToolUse = AssistantEvents['tool']

/** A tool call to be confirmed. */
export type Confirmation = Extract<AssistantAction, { type: 'confirm' }>['data']

/** A question or an answer. */
export interface Turn {
  key: number
  role: 'user' | 'assistant'
  text: string
  /** Time, epoch ms. */
  at: number
  picture: Picture | undefined
  tools: readonly ToolUse[]
  actions: readonly AssistantAction[]
  state: 'making' | 'whole' | 'stopped' | 'failed'
  /** With `failed`. */
  error: unknown
  changes: number | undefined
  /** The wallpaper before the answer changed it, for undo. */
  wallpaper: string | undefined
  /** Decision on the confirmation; `past` if it was made before this page was loaded. */
  decision: 'allowed' | 'declined' | 'past' | undefined
}

let lastKey = 0

export const turnOf = (role: Turn['role'], values: Partial<Turn> = {}): Turn => ({
  key: ++lastKey,
  role,
  text: '',
  at: Date.now(),
  picture: undefined,
  tools: [],
  actions: [],
  state: 'whole',
  error: undefined,
  changes: undefined,
  wallpaper: undefined,
  decision: undefined,
  ...values,
})

type Message = AnswerOf<'assistant.messages'>['messages'][number]

/** Lifetime of a confirmation on the server, ms. */
export const CONFIRMATION_LIFETIME = 300_000

/** Turns from the messages of the server. A confirmation followed by an answer has been decided. */
export const turnsOf = (messages: readonly Message[]): Turn[] =>
  messages.map(({ role, content, actions, created_at }, index) => {
    const isOver = messages[index + 1]?.role === 'assistant'
    return turnOf(role, { text: content, actions, at: Date.parse(created_at), decision: isOver ? 'past' : undefined })
  })

export function withTool(tools: readonly ToolUse[], update: ToolUse): ToolUse[] {
  const at = tools.findLastIndex(
    ({ name, summary, status }) => status === 'running' && name === update.name && summary === update.summary,
  )
  return update.status === 'running' || at < 0 ? [...tools, update] : tools.with(at, update)
}

/** The pending confirmation of an answer. */
export const confirmationOf = ({ actions }: Turn): Confirmation | undefined =>
  actions.findLast(({ type }) => type === 'confirm')?.data as Confirmation
