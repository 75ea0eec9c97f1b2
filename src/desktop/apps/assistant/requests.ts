import type { AssistantAction, AssistantAnswer, AssistantEvents } from '../../../contract/assistant.ts'
import { bridge, type CallOptions } from '../../kit/bridge.ts'
import { ApiError } from '../../kit/api-error.ts'
import { announceAnswer, announceText, clearAnnouncements } from './announcer.tsx'
import { performAction } from './desktop-actions.ts'
import { release, type Picture } from './attached-picture.ts'
import {
  current,
  chosenModel,
  loadList,
  loadModels,
  models,
  setUnanswered,
  setId,
  titleOf,
  type Thread,
} from './store.ts'
import { turnOf, withTool, type ToolUse, type Turn, type Confirmation } from './turns.ts'
import { toolText } from './tool-words.ts'
import { words } from './words.ts'

/** Minimum interval between renderings of a growing answer, ms. */
const REDRAW_MS = 50

function updateTurn(thread: Thread, key: number, values: Partial<Turn> | ((turn: Turn) => Partial<Turn>)): void {
  thread.turns.value = thread.turns.value.map((turn) =>
    turn.key === key ? { ...turn, ...(typeof values === 'function' ? values(turn) : values) } : turn,
  )
}

const isShown = (thread: Thread): boolean => thread === current.value

/** Notifies the user if this window has no focus. */
function notify(title: string, text = ''): void {
  if (!document.hasFocus()) bridge.notify(title, text)
}

/** Applies the events of a streamed answer to its turn. */
function makeAnswerWriter(thread: Thread, key: number) {
  let text = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    updateTurn(thread, key, { text })
    if (isShown(thread)) announceAnswer(key, text, false)
  }
  const runAction = (action: AssistantAction): void => {
    const before = bridge.preferences.value.wallpaper
    updateTurn(thread, key, ({ actions, wallpaper }) => ({
      actions: [...actions, action],
      wallpaper: action.type === 'set_wallpaper' ? (wallpaper ?? before) : wallpaper,
    }))
    performAction(action)
    if (action.type === 'confirm') notify(words('confirmation_needed'), action.data.summary)
  }
  const showTool = (tool: ToolUse): void => {
    updateTurn(thread, key, ({ tools }) => ({ tools: withTool(tools, tool) }))
    if (tool.status === 'running' && isShown(thread)) announceText(toolText(tool))
  }
  return {
    onEvent(event: string, data: unknown): void {
      if (event === 'delta') {
        text += (data as AssistantEvents['delta']).text
        timer ??= setTimeout(flush, REDRAW_MS)
      } else if (event === 'tool') showTool(data as ToolUse)
      else if (event === 'action') runAction(data as AssistantAction)
    },
    /** Renders buffered text now. */
    flush,
  }
}

type Ask = (options: CallOptions) => Promise<AssistantAnswer>

/** Requests an answer and shows it. Returns whether it is complete. */
async function runRequest(thread: Thread, answer: Turn, ask: Ask): Promise<boolean> {
  const { key } = answer
  const stop = new AbortController()
  const writer = makeAnswerWriter(thread, key)
  thread.running.value = stop
  clearAnnouncements()
  announceText(words('works'))
  try {
    const answered = await ask({ signal: stop.signal, onEvent: writer.onEvent })
    writer.flush()
    const { response: text, actions, change_set_id: changes } = answered
    updateTurn(thread, key, { text, actions, changes, state: 'whole', at: Date.now() })
    if (isShown(thread)) announceAnswer(key, text, true)
    setId(thread, answered.conversation_id)
    if (!actions.some(({ type }) => type === 'confirm')) notify(words('answered'), titleOf(thread))
    return true
  } catch (error) {
    writer.flush()
    updateTurn(thread, key, stop.signal.aborted ? { state: 'stopped' } : { state: 'failed', error })
    if (stop.signal.aborted) announceText(words('stopped'))
    if (error instanceof ApiError && error.code === 'assistant_unavailable') void loadModels()
    return false
  } finally {
    thread.running.value = undefined
    void loadList()
  }
}

/** The selected model, if it still exists. */
const modelWanted = (): { model?: string } => {
  const id = chosenModel.value
  return id !== undefined && models.value?.some((one) => one.id === id) ? { model: id } : {}
}

/** Sends a question; one at a time per conversation. */
export async function ask(thread: Thread, text: string, picture?: Picture): Promise<void> {
  if (thread.running.value) return
  const question = turnOf('user', { text, picture })
  const answer = turnOf('assistant', { state: 'making' })
  thread.turns.value = [...thread.turns.value, question, answer]
  setUnanswered(thread, text)
  const params = {
    message: text,
    conversation_id: thread.id.value ?? null,
    ...(picture ? { image: picture.base64 } : {}),
    ...modelWanted(),
    stream: true,
  }
  const isComplete = await runRequest(thread, answer, (options) => bridge.call('assistant.ask', params, options))
  if (isComplete) setUnanswered(thread, '')
}

export function retry(thread: Thread, answer: Turn): void {
  const at = thread.turns.value.indexOf(answer)
  const question = thread.turns.value[at - 1]
  if (!question || thread.running.value) return
  // The conversation was deleted: start a new one.
  if (answer.error instanceof ApiError && answer.error.code === 'not_found') setId(thread, undefined)
  thread.turns.value = thread.turns.value.filter((turn) => turn !== question && turn !== answer)
  void ask(thread, question.text, question.picture)
}

/** Removes an unanswered question and returns its text for editing. */
export function withdraw(thread: Thread, answer: Turn): string {
  const question = thread.turns.value[thread.turns.value.indexOf(answer) - 1]
  thread.turns.value = thread.turns.value.filter((turn) => turn !== question && turn !== answer)
  if (question?.picture) release(question.picture)
  setUnanswered(thread, '')
  return question?.text ?? ''
}

const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && ['unreachable', 'rate_limited', 'busy', 'maintenance'].includes(error.code)

/** Allows or declines a tool call, and shows the rest of the answer. */
export async function decide(
  thread: Thread,
  { key }: Turn,
  { confirmation_id }: Confirmation,
  allow: boolean,
): Promise<void> {
  if (thread.running.value) return
  const answer = turnOf('assistant', { state: 'making' })
  updateTurn(thread, key, { decision: allow ? 'allowed' : 'declined' })
  thread.turns.value = [...thread.turns.value, answer]
  const params = { confirmation_id, allow, stream: true }
  const isComplete = await runRequest(thread, answer, (options) => bridge.call('assistant.confirm', params, options))
  const now = thread.turns.value.find((turn) => turn.key === answer.key)
  // A decision that was not delivered can be made again.
  if (!isComplete && now?.text === '' && now.tools.length === 0 && isTransient(now.error))
    updateTurn(thread, key, { decision: undefined })
}

/** Whether an answer can be requested again: it follows a question. */
export const canRetry = (thread: Thread, answer: Turn): boolean => {
  const at = thread.turns.value.indexOf(answer)
  return at === thread.turns.value.length - 1 && thread.turns.value[at - 1]?.role === 'user'
}

export const stop = (thread: Thread): void => thread.running.value?.abort(new Error('The user stopped the answer.'))
