import { ask } from './ask.ts'
import { changes } from './changes.ts'
import { confirm } from './confirm.ts'
import { conversations } from './conversations.ts'
import { deleteConversation } from './delete-conversation.ts'
import { messages } from './messages.ts'
import { models } from './models.ts'
import { undo } from './undo.ts'

export const assistantHandlers = [ask, models, conversations, messages, deleteConversation, confirm, changes, undo]
