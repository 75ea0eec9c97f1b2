import { teamChat } from '../../contract/team-chat.ts'
import { cancelled, command, flag } from '../command.ts'

export const deleteMessage = command({
  name: 'chat delete',
  summary: 'Delete one of your messages; administrators can delete any message of a room they are in',
  needs: 'server',
  args: { message: 'number of the message' },
  flags: { yes: flag.yes },
  examples: ['svc chat delete 4711', 'svc chat delete 4711 --yes'],
  async run({ io, api, args, flags }) {
    const { messageId } = await import('./message-id.ts')
    const message_id = messageId(args.message)
    if (!flags.yes && !(await io.confirm(`Delete #${message_id} for everyone?`))) throw cancelled()
    await api.call(teamChat.actions.delete, { message_id })
    io.print(`Deleted #${message_id}.`, { message_id })
  },
})
