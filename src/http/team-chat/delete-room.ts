import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const deleteRoom = handle(teamChat.actions.delete_room, async ({ params, caller, domain }) => {
  await domain.chat.deleteRoom(caller.user, params.room_id)
  return {}
})
