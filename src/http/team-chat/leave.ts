import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const leave = handle(teamChat.actions.leave, async ({ params, caller, domain }) => {
  await domain.chat.leave(caller.user, params.room_id)
  return {}
})
