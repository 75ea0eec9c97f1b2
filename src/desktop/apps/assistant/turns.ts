import type { AssistantAction, AssistantEvents } from '../../../contract/assistant.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import type { Picture } from './attached-picture.ts'

/** A tool that the assistant used, and how that ended. */
export type ToolUse = AssistantEvents['tool']

/** What the assistant wants the user's word for. */
export type Confirmation = Extract<AssistantAction, { type: 'confirm' }>['data']

/** Something that was said in a conversation, or is being said. */
export interface Turn {
  key: number
  role: 'user' | 'assistant'
  text: string
  /** When it was said, in ms. */
  at: number
  picture: Picture | undefined
  tools: readonly ToolUse[]
  actions: readonly AssistantAction[]
  state: 'making' | 'whole' | 'stopped' | 'failed'
  /** Why it failed. */
  error: unknown
  /** The change set of what the answer changed. */
  changes: number | undefined
  /** The wallpaper before the answer changed it. */
  wallpaper: string | undefined
  /** What became of its wish; `past` when that was before this window. */
  decision: 'allowed' | 'declined' | 'past' | undefined
}

let lastKey = 0

/** A turn with nothing but what is given. */
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

/** Milliseconds for which the server remembers a wish. */
export const CONFIRMATION_LIFETIME = 300_000

/** Turns of a conversation as the server has them. A wish whose answer follows has had its word. */
export const turnsOf = (messages: readonly Message[]): Turn[] =>
  messages.map(({ role, content, actions, created_at }, index) => {
    const isOver = messages[index + 1]?.role === 'assistant'
    return turnOf(role, { text: content, actions, at: Date.parse(created_at), decision: isOver ? 'past' : undefined })
  })

/** Tools with what was heard of one: how it ended belongs to the one that runs. */
export function withTool(tools: readonly ToolUse[], update: ToolUse): ToolUse[] {
  const at = tools.findLastIndex(
    ({ name, summary, status }) => status === 'running' && name === update.name && summary === update.summary,
  )
  return update.status === 'running' || at < 0 ? [...tools, update] : tools.with(at, update)
}

/** What an answer wants the user's word for. */
export const confirmationOf = ({ actions }: Turn): Confirmation | undefined =>
  actions.findLast(({ type }) => type === 'confirm')?.data as Confirmation
