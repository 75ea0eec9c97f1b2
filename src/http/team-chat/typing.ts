import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const typing = handle(teamChat.actions.typing, async ({ params, caller, domain }) => {
  await domain.chat.typing(caller.user.id, params.room_id)
  return {}
})
