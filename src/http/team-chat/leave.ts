import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handle.ts'

export const leave = handle(teamChat.actions.leave, async ({ params, caller, domain }) => {
  await domain.chat.leave(caller.user, params.room_id)
  return {}
})
