import { byteLength } from '../../../base/text.ts'
import type { ModelFunction, ModelMessage } from '../../../base/language-model.ts'
import { fault } from '../../../contract/errors.ts'
import { cutTo } from '../text.ts'

/** UTF-8 bytes that are reckoned as one token: models differ, and too few are better than too many. */
const BYTES_PER_TOKEN = 3
/** What a message costs beside its text, and a picture, in tokens. */
const FRAME = 4
const PICTURE = 1_600
/** Most tokens kept free for the answer. */
const ANSWER = 4_096
/** What stays of results that have no room any more, in bytes. */
const SHORT = 400

/** Tokens of a text, estimated. */
export const tokensOf = (text: string): number => Math.ceil(byteLength(text) / BYTES_PER_TOKEN)

function costOf(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? message.calls : []
  const written = calls.reduce((sum, call) => sum + tokensOf(call.name + call.arguments), 0)
  return FRAME + tokensOf(message.text) + written + (message.role === 'user' && message.image ? PICTURE : 0)
}

const sum = (messages: readonly ModelMessage[]): number => messages.reduce((total, one) => total + costOf(one), 0)

/** The functions that leave room for what is said: a third of the context is theirs, the first of them first. */
export function affordable(functions: readonly ModelFunction[], context: number): ModelFunction[] {
  let left = Math.floor(context / 3)
  return functions.filter((one) => {
    const cost = tokensOf(JSON.stringify(one))
    if (cost > left) return false
    left -= cost
    return true
  })
}

/**
 * Messages that a model with this context can read: from the oldest on, what was said before the question at index
 * `question` is left out, then results are shortened. Fault `too_large` when the question alone does not fit.
 */
export function fit(
  messages: readonly ModelMessage[],
  { question, context, functions }: { question: number; context: number; functions: readonly ModelFunction[] },
): ModelMessage[] {
  const room = context - Math.min(ANSWER, Math.floor(context / 4)) - tokensOf(JSON.stringify(functions))
  const [system, ...before] = messages.slice(0, question)
  const asked = messages.slice(question)
  const first = [system, asked[0]].filter((one) => one !== undefined)
  if (sum(first) > room)
    throw fault('too_large', { text: 'The message is longer than the model can read; shorten it.' })
  const now = shorten(asked, room - (system ? costOf(system) : 0))
  let left = room - sum(now) - (system ? costOf(system) : 0)
  let from = before.length
  while (from > 0 && costOf(before[from - 1]!) <= left) left -= costOf(before[--from]!)
  // Some models refuse to hear an answer before a question.
  while (from < before.length && before[from]!.role !== 'user') from++
  return [...(system ? [system] : []), ...before.slice(from), ...now]
}

/** Cuts results, the oldest first, until all fits. */
function shorten(messages: readonly ModelMessage[], room: number): ModelMessage[] {
  const cut = [...messages]
  let over = sum(cut) - room
  for (const [index, message] of cut.entries()) {
    if (over <= 0) break
    if (message.role !== 'result') continue
    const short = { ...message, text: cutTo(message.text, SHORT, '\n[cut: no more room]') }
    over -= costOf(message) - costOf(short)
    cut[index] = short
  }
  return cut
}
