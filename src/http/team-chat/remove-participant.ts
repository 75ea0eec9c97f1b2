import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const removeParticipant = handle(teamChat.actions.remove_participant, async ({ params, caller, domain }) => {
  await domain.chat.removeParticipant(caller.user, params)
  return {}
})
