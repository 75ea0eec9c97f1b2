import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const createRoom = handle(teamChat.actions.create_room, async ({ params, caller, domain }) => ({
  room: await domain.chat.createRoom(caller.user, params),
}))
