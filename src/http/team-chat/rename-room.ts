import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const renameRoom = handle(teamChat.actions.rename_room, async ({ params, caller, domain }) => ({
  room: await domain.chat.renameRoom(caller.user, params),
}))
