import { assistant } from '../../contract/assistant.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { explainNotFound } from './not-found.ts'
import { parseId } from './id-argument.ts'

export const show = command({
  name: 'ask show',
  summary: 'Show a conversation with the assistant, oldest message first',
  needs: 'server',
  onlyPrints: true,
  args: { id: 'number of the conversation, from svc ask list' },
  flags: {},
  examples: ['svc ask show 12', 'svc ask show 12 --json'],
  async run({ io, api, args }) {
    const conversation_id = parseId('A conversation', args.id)
    const { messages } = await api
      .call(assistant.actions.messages, { conversation_id })
      .catch(explainNotFound('conversation', conversation_id))
    if (io.json) return io.print('', { conversation_id, messages })
    const { renderMarkdown } = await import('./markdown-text.ts')
    for (const [index, { role, content, created_at }] of messages.entries()) {
      const head = `${role === 'user' ? 'you' : 'assistant'} ${io.paint.dim(formatTime(Date.parse(created_at)))}`
      io.print(`${index > 0 ? '\n' : ''}${io.paint.bold(head)}\n${renderMarkdown(content, io.paint)}`, undefined)
    }
  },
})
