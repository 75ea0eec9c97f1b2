import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const deleteMessage = handle(teamChat.actions.delete, async ({ params: { message_id }, caller, domain }) => {
  await domain.chat.remove(caller.user, message_id)
  return { message_id }
})
