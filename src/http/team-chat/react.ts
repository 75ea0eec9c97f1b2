import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const react = handle(teamChat.actions.react, async ({ params, caller, domain }) => ({
  message_id: params.message_id,
  ...(await domain.chat.react(caller.user, params)),
}))
