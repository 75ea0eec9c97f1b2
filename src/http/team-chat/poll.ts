import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const poll = handle(teamChat.actions.poll, ({ params, caller, domain, signal }) =>
  domain.chat.poll(caller.user.id, params, signal),
)
