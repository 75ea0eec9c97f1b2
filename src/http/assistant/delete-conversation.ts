import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'

export const deleteConversation = handle(assistant.actions.delete_conversation, async ({ params, caller, domain }) => {
  await domain.assistant.conversations.remove(caller.user.id, params.conversation_id)
  return {}
})
