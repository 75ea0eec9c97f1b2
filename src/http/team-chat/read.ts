import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const read = handle(teamChat.actions.read, async ({ params, caller, domain }) => {
  await domain.chat.markRead(caller.user.id, params.room_id)
  return {}
})
