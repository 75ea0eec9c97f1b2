import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const presence = handle(teamChat.actions.presence, async ({ params, caller, domain }) => {
  await domain.chat.presence(caller.user.id, params.room_id)
  return {}
})
