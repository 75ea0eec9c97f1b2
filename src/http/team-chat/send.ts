import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const send = handle(teamChat.actions.send, async ({ params, caller, domain }) => ({
  message: await domain.chat.send(caller.user, params),
}))
