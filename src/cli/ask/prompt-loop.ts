import { createInterface } from 'node:readline/promises'
import type { Question } from '../../client/ask/ask-stream.ts'
import { askQuestion, type ConversationContext } from './conversation.ts'

/** Prompts for questions in one conversation until an empty line or Ctrl-D. */
export async function promptLoop(
  context: ConversationContext,
  { conversation_id, ...options }: Omit<Question, 'message'>,
): Promise<void> {
  const { io, signal } = context
  // Write directly: the prompt does not wait for queued output.
  process.stderr.write(`${io.paint.dim('Ask away; an empty line ends the conversation.')}\n`)
  let conversation = conversation_id ?? null
  for (;;) {
    const message = await question(io.paint.bold('> '), signal)
    if (message === undefined || message.trim() === '') return
    const answer = await askQuestion(context, { message, conversation_id: conversation, ...options })
    conversation = answer.conversation_id
  }
}

/** Reads one line; undefined at the end of input. Holds the terminal only while reading: answers can be interrupted. */
async function question(prompt: string, signal: AbortSignal): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await Promise.race([terminal.question(prompt, { signal }), closed])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    terminal.close()
  }
}
