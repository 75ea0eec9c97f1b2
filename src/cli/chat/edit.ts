import { teamChat } from '../../contract/team-chat.ts'
import { command } from '../command.ts'

export const edit = command({
  name: 'chat edit',
  summary: 'Change the text of one of your messages',
  needs: 'server',
  args: {
    message: 'number of the message',
    text: { summary: 'the new text, or - for standard input', optional: true, many: true },
  },
  flags: {},
  examples: ['svc chat edit 4711 "The build is green again."', 'svc chat edit 4711 - < status.txt'],
  async run({ io, api, args }) {
    const { readMessage } = await import('./message-input.ts')
    const { messageId } = await import('./message-id.ts')
    const message_id = messageId(args.message)
    const content = await readMessage(io, args.text)
    await api.call(teamChat.actions.edit, { message_id, content }, { repeatable: true })
    io.print(`Changed #${message_id}.`, { message_id })
  },
})
