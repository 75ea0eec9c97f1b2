import { assistant } from '../../contract/assistant.ts'
import { cancelled, command, flag } from '../command.ts'
import { explainNotFound } from './not-found.ts'
import { parseId } from './id-argument.ts'

export const remove = command({
  name: 'ask remove',
  summary: 'Delete a conversation with all its messages',
  details: 'What the assistant changed stays and can still be undone.',
  needs: 'server',
  args: { id: 'number of the conversation, from svc ask list' },
  flags: { yes: flag.yes },
  examples: ['svc ask remove 12', 'svc ask remove 12 --yes'],
  async run({ io, api, args, flags }) {
    const conversation_id = parseId('A conversation', args.id)
    if (!flags.yes && !(await io.confirm(`Delete conversation ${conversation_id}?`))) throw cancelled()
    await api
      .call(assistant.actions.delete_conversation, { conversation_id })
      .catch(explainNotFound('conversation', conversation_id))
    io.print(`Deleted conversation ${conversation_id}.`, { conversation_id, deleted: true })
  },
})
