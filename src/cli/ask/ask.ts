import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { interruptible } from '../interruption.ts'
import type { ConversationContext } from './conversation.ts'

export const ask = command({
  name: 'ask',
  summary: 'Ask the assistant',
  details:
    'The answer goes to standard output, the tools it uses to standard error. Standard input is appended to the question. ' +
    'Tools that need your permission are asked about on a terminal, and declined without one (exit 8). --yes does not answer ' +
    'these questions, because text from others may have caused them. Without a question, a terminal asks ' +
    'for one after another. A question in quotes is never taken for a command. One without quotes that begins with the name of a command is ' +
    'refused unless it follows --. With --json each line is an object ' +
    'with an event: delta, tool, action, done.',
  needs: 'server',
  args: { question: { summary: 'what to ask', optional: true, many: true } },
  flags: {
    attach: flag.many('file to attach to the question: text, or one image', 'FILE', { short: 'a' }),
    continue: flag.switch('continue the last conversation', { short: 'c' }),
    conversation: flag.integer('continue this conversation', 'ID', 1),
    model: flag.text('model to ask, one of those the server offers', 'MODEL'),
    noStream: flag.switch('print the answer when it is complete'),
  },
  examples: [
    'svc ask "What is on my list for Friday?"',
    'git diff | svc ask "Write a commit message for this"',
    'svc ask -a scan.png "What does the receipt say?"',
    'svc ask -c "And the week after?"',
    'svc ask -- list the files of /Reports',
    'svc ask --no-stream --json "Summarise /Reports/2026.md"',
  ],
  async run({ io, api, args, flags }) {
    const [{ composeQuestion }, { askQuestion }, { makeAskClient }, { lastConversation }, outputs] = await Promise.all([
      import('./question.ts'),
      import('./conversation.ts'),
      import('../../client/ask/ask-stream.ts'),
      import('./last-conversation.ts'),
      import('./answer-output.ts'),
    ])
    if (flags.continue && flags.conversation !== undefined) throw usage('Give --continue or --conversation, not both.')
    const composed = await composeQuestion(io, args.question, flags.attach)
    if (!composed && (!io.interactive || io.json)) throw usage('Give a question: svc ask "…", or standard input.')

    const isStream = !flags.noStream
    const onTerminal = process.stdout.isTTY && !io.json
    const output = io.json
      ? outputs.jsonOutput(io, isStream)
      : onTerminal
        ? await outputs.terminalOutput(io)
        : outputs.plainOutput(io)
    const conversation_id = flags.continue ? await lastConversation(api) : (flags.conversation ?? null)
    const options = { conversation_id, ...(flags.model === undefined ? {} : { model: flags.model }) }

    await interruptible('Interrupted: the answer was cancelled.', async (signal) => {
      const context: ConversationContext = { io, asking: makeAskClient(api), output, isStream, signal }
      if (composed) await askQuestion(context, { ...composed, ...options })
      else await (await import('./prompt-loop.ts')).promptLoop(context, options)
    })
  },
})
