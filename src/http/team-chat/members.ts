import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const members = handle(teamChat.actions.members, async ({ params, caller, domain }) => ({
  members: await domain.chat.members(caller.user.id, params.room_id),
}))
