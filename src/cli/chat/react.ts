import { printable } from '../../base/text.ts'
import { teamChat } from '../../contract/team-chat.ts'
import { command } from '../command.ts'
import { usage } from '../exit.ts'

export const react = command({
  name: 'chat react',
  summary: 'Add a reaction to a message, or remove it',
  details: 'The same reaction a second time removes it. Give an emoji itself or its name: 👍 or :+1:.',
  needs: 'server',
  args: { message: 'number of the message', emoji: 'emoji, or its :name:' },
  flags: {},
  examples: ['svc chat react 4711 :tada:', 'svc chat react 4711 👍 --json'],
  async run({ io, api, args }) {
    const { messageId } = await import('./message-id.ts')
    const { emojiNamed } = await import('../../client/chat/emoji.ts')
    const message_id = messageId(args.message)
    const emoji = emojiNamed(args.emoji)
    if (/^[ -~]*$/.test(emoji)) throw usage(`There is no emoji called "${args.emoji}".`)
    const answer = await api.call(teamChat.actions.react, { message_id, emoji })
    const { added, reactions } = answer
    io.print(`${added ? 'Added' : 'Removed'} ${printable(emoji)} ${added ? 'to' : 'from'} #${message_id}.`, {
      message_id,
      emoji,
      added,
      reactions,
    })
  },
})
