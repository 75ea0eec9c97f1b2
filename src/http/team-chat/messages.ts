import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const messages = handle(teamChat.actions.messages, ({ params, caller, domain }) =>
  domain.chat.messages(caller.user.id, params),
)
