import { printable } from '../../base/text.ts'
import type { AssistantAnswer } from '../../contract/assistant.ts'
import type { AskEvent, AskClient, Confirmation, Question } from '../../client/ask/ask-stream.ts'
import { Exit } from '../exit.ts'
import type { Io } from '../io.ts'
import { explainNotFound } from './not-found.ts'
import { plainText } from './markdown-text.ts'
import type { AnswerOutput } from './answer-output.ts'

export interface ConversationContext {
  io: Io
  asking: AskClient
  output: AnswerOutput
  isStream: boolean
  signal: AbortSignal
}

/** Shows the exact arguments of the tool that the user is asked to permit. */
function confirmationText({ tool, arguments: args }: Confirmation, { paint }: Io): string {
  const lines = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const [first = '', ...rest] = plainText(text).split('\n')
    return [`  ${paint.dim(`${printable(name)}:`)} ${first}`, ...rest.map((line) => `    ${line}`)].join('\n')
  })
  return [`The assistant asks to use ${paint.bold(printable(tool))}:`, ...lines].join('\n')
}

/** Asks the user for permission. Without a terminal the answer is no. */
async function askPermission({ io, output }: ConversationContext, confirmation: Confirmation): Promise<boolean> {
  if (!io.interactive || io.json) return false
  output.info(confirmationText(confirmation, io))
  return io.confirm('Allow this?')
}

async function receive({ output }: ConversationContext, events: AsyncIterable<AskEvent>): Promise<AssistantAnswer> {
  let answer: AssistantAnswer | undefined
  try {
    for await (const event of events) {
      await output.onEvent(event)
      if (event.event === 'done') answer = event.data
    }
  } finally {
    await output.end()
  }
  return answer!
}

/** Asks one question and shows the answer. Without a terminal, tools are declined and the exit code is 8. */
export async function askQuestion(context: ConversationContext, question: Question): Promise<AssistantAnswer> {
  const { io, asking, isStream: stream, signal } = context
  let declined: Confirmation | undefined
  const changed: number[] = []
  const note = ({ change_set_id }: AssistantAnswer): void => {
    if (change_set_id !== undefined) changed.push(change_set_id)
  }
  const { conversation_id: id } = question
  const first = receive(context, asking.ask(question, { stream, signal }))
  let answer = await (typeof id === 'number' ? first.catch(explainNotFound('conversation', id)) : first)
  note(answer)
  for (;;) {
    const confirmation = answer.actions.findLast((action) => action.type === 'confirm')
    if (!confirmation) break
    const allow = await askPermission(context, confirmation.data)
    if (!allow && (!io.interactive || io.json)) declined = confirmation.data
    answer = await receive(context, asking.confirm(confirmation.data.confirmation_id, allow, { stream, signal }))
    note(answer)
  }
  if (io.json && !stream) io.print('', answer)
  for (const id of io.json ? [] : changed)
    io.info(io.paint.dim(`This changed something: svc ask undo ${id} undoes it.`))
  if (declined) {
    const what = printable(declined.summary)
    throw new Exit(
      8,
      `The assistant asked to ${what}, which needs your permission: ask on a terminal.`,
      'confirmation_needed',
    )
  }
  return answer
}
