import { byteLength } from '../../../base/text.ts'
import type { ModelFunction, ModelMessage } from '../../../base/language-model.ts'
import { fault } from '../../../contract/errors.ts'
import { cutTo } from '../model-text.ts'

/** UTF-8 bytes per token; models differ, and overestimating tokens is safe. */
const BYTES_PER_TOKEN = 3
/** Tokens of a message beside its text, and of a picture. */
const FRAME = 4
const PICTURE = 1_600
/** Tokens reserved for the answer at most. */
const ANSWER = 4_096
/** What is left at least of a truncated result, in bytes. */
const SHORT = 400

export const tokensOf = (text: string): number => Math.ceil(byteLength(text) / BYTES_PER_TOKEN)

function costOf(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? message.calls : []
  const written = calls.reduce((totalCost, call) => totalCost + tokensOf(call.name + call.arguments), 0)
  return FRAME + tokensOf(message.text) + written + (message.role === 'user' && message.image ? PICTURE : 0)
}

const totalCost = (messages: readonly ModelMessage[]): number => messages.reduce((total, one) => total + costOf(one), 0)

/** The functions that fit into a third of the context window, in order. */
export function fittingFunctions(functions: readonly ModelFunction[], context: number): ModelFunction[] {
  let left = Math.floor(context / 3)
  return functions.filter((one) => {
    const cost = tokensOf(JSON.stringify(one))
    if (cost > left) return false
    left -= cost
    return true
  })
}

/** Drops old messages before the question, then truncates results. Fault `too_large` if the question does not fit. */
export function fitMessages(
  messages: readonly ModelMessage[],
  { question, context, functions }: { question: number; context: number; functions: readonly ModelFunction[] },
): ModelMessage[] {
  const room = context - Math.min(ANSWER, Math.floor(context / 4)) - tokensOf(JSON.stringify(functions))
  const [system, ...before] = messages.slice(0, question)
  const asked = messages.slice(question)
  const first = [system, asked[0]].filter((one) => one !== undefined)
  if (totalCost(first) > room)
    throw fault('too_large', { text: 'The message is longer than the model can read; shorten it.' })
  const now = truncateResults(asked, room - (system ? costOf(system) : 0))
  let left = room - totalCost(now) - (system ? costOf(system) : 0)
  let from = before.length
  while (from > 0 && costOf(before[from - 1]!) <= left) left -= costOf(before[--from]!)
  // Some models refuse an answer before a question.
  while (from < before.length && before[from]!.role !== 'user') from++
  return [...(system ? [system] : []), ...before.slice(from), ...now]
}

/** Truncates results, oldest first and none by more than necessary, until all messages fit. */
function truncateResults(messages: readonly ModelMessage[], room: number): ModelMessage[] {
  const cut = [...messages]
  let over = totalCost(cut) - room
  for (const [index, message] of cut.entries()) {
    if (over <= 0) break
    if (message.role !== 'result') continue
    const bytes = Math.max(SHORT, byteLength(message.text) - over * BYTES_PER_TOKEN)
    const short = { ...message, text: cutTo(message.text, bytes, '\n[cut: no more room]') }
    over -= costOf(message) - costOf(short)
    cut[index] = short
  }
  return cut
}
