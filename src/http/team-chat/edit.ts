import { teamChat } from '../../contract/team-chat.ts'
import { handle } from '../handler.ts'

export const edit = handle(teamChat.actions.edit, async ({ params, caller, domain }) => {
  await domain.chat.edit(caller.user, params)
  return { message_id: params.message_id }
})
