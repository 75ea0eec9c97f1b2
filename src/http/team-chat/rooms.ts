import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const rooms = handle(teamChat.actions.rooms, async ({ caller, domain }) => ({
  rooms: await domain.chat.rooms(caller.user.id),
}))
