import { assistant } from '../../contract/assistant.ts'
import { command, flag } from '../command.ts'
import { formatTime } from '../time-format.ts'

export const list = command({
  name: 'ask list',
  summary: 'List conversations with the assistant, most recently used first',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: { limit: flag.integer('maximum number (20)', 'N', 1, 500) },
  examples: ['svc ask list', 'svc ask list --limit 100 --json'],
  async run({ io, api, flags }) {
    const { conversations } = await api.call(assistant.actions.conversations, { limit: flags.limit ?? 20 })
    io.table(
      conversations,
      [
        { title: 'ID', value: ({ conversation_id }) => conversation_id, align: 'right' },
        { title: 'LAST USED', value: ({ updated_at }) => formatTime(Date.parse(updated_at)) },
        { title: 'MESSAGES', value: ({ message_count }) => message_count, align: 'right' },
        { title: 'TITLE', value: ({ title }) => title },
      ],
      'There are no conversations yet: svc ask "…" begins one.',
    )
  },
})
