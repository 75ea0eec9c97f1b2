import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const search = handle(teamChat.actions.search, async ({ params, caller, domain }) => ({
  messages: await domain.chat.search(caller.user.id, params),
}))
