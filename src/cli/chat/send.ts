import { randomUUID } from 'node:crypto'
import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'

export const send = command({
  name: 'chat send',
  summary: 'Post a message',
  details:
    "A room is given by its name, by '#id', or by @user for a direct conversation, which the first message starts. With - the " +
    'message comes from standard input. Sending again with the same --key and text posts nothing; with another text it is refused (exit 6).',
  needs: 'server',
  args: {
    room: "room: name, '#id' or @user",
    text: { summary: 'what to say, or - for standard input', optional: true, many: true },
  },
  flags: {
    key: flag.text('key of this message: sending it again with the key posts it only once', 'KEY'),
    replyTo: flag.text('number of the message to reply to', 'ID'),
  },
  examples: [
    'svc chat send general "The build is green."',
    'svc chat send @ada Lunch?',
    'make 2>&1 | tail -20 | svc chat send general - --key build-4711',
  ],
  async run({ io, api, args, flags }) {
    const { readMessage } = await import('./message-input.ts')
    const { messageId } = await import('./message-id.ts')
    const { resolveOrOpenRoom } = await import('./room-lookup.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    if (flags.key !== undefined && (flags.key === '' || flags.key.length > 100))
      throw usage('--key must be 1 to 100 characters long.')
    const reply_to = flags.replyTo === undefined ? undefined : messageId(flags.replyTo)
    const content = await readMessage(io, args.text)
    const { room, title } = await resolveOrOpenRoom(api, args.room)
    // The key makes it safe to repeat the request.
    const client_id = flags.key ?? randomUUID()
    const params = { room_id: room.room_id, content, client_id, ...(reply_to === undefined ? {} : { reply_to }) }
    const sent = () => api.call(teamChat.actions.send, params, { repeatable: true })
    const { message } = await withRetry(sent, retryOptions(io))
    const { printable } = await import('../../base/text.ts')
    const isAnother = flags.key !== undefined && message.edited_at === null && message.content !== content
    if (isAnother)
      throw new Exit(
        6,
        `--key ${flags.key} was already used, for #${message.message_id} with another text: nothing was sent.`,
      )
    io.print(`Sent #${message.message_id} to ${printable(title)}.`, message)
  },
})
