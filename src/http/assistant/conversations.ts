import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'

export const conversations = handle(assistant.actions.conversations, async ({ params, caller, domain }) => ({
  conversations: await domain.assistant.conversations.list(caller.user.id, params.limit),
}))
