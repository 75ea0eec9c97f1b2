import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'

export const messages = handle(assistant.actions.messages, async ({ params, caller, domain }) => ({
  messages: await domain.assistant.conversations.messages(caller.user.id, params.conversation_id),
}))
