import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const invite = handle(teamChat.actions.invite, async ({ params, caller, domain }) => ({
  room: await domain.chat.invite(caller.user, params),
}))
