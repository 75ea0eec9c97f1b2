import { randomUUID } from 'node:crypto'
import { teamChat } from '../../contract/team-chat.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { patienceOf } from '../patience.ts'

export const send = command({
  name: 'chat send',
  summary: 'Post a message',
  details:
    "Rooms are named by their name, by '#id', or by @user for a direct conversation, which begins with its first message. With - the " +
    'message comes from standard input. The same --key again posts nothing and answers the first message.',
  needs: 'server',
  args: {
    room: "room: name, '#id' or @user",
    text: { summary: 'what to say, or - for standard input', optional: true, many: true },
  },
  flags: {
    key: flag.text('name of this message: sent again under it, it is posted once', 'KEY'),
    replyTo: flag.text('number of the message that is answered', 'ID'),
  },
  examples: [
    'svc chat send general "The build is green."',
    'svc chat send @ada Lunch?',
    'make 2>&1 | tail -20 | svc chat send general - --key build-4711',
  ],
  async run({ io, api, args, flags }) {
    const { messageGiven } = await import('./message-input.ts')
    const { messageId } = await import('./message-id.ts')
    const { enterOrOpen } = await import('./place.ts')
    const { patiently } = await import('../../client/patience.ts')
    if (flags.key !== undefined && (flags.key === '' || flags.key.length > 100))
      throw usage('--key must be 1 to 100 characters long.')
    const reply_to = flags.replyTo === undefined ? undefined : messageId(flags.replyTo)
    const content = await messageGiven(io, args.text)
    const { room, title } = await enterOrOpen(api, args.room)
    // A key of its own makes it safe to send again what may have got lost.
    const client_id = flags.key ?? randomUUID()
    const params = { room_id: room.room_id, content, client_id, ...(reply_to === undefined ? {} : { reply_to }) }
    const sent = () => api.call(teamChat.actions.send, params, { repeatable: true })
    const { message } = await patiently(sent, patienceOf(io))
    const { printable } = await import('../../base/text.ts')
    io.say(`Sent #${message.message_id} to ${printable(title)}.`, message)
  },
})
