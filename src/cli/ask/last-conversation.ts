import type { Api } from '../../client/api.ts'
import { assistant } from '../../contract/assistant.ts'
import { Exit } from '../exit.ts'

/** The most recently used conversation. Exit 5 if there is none. */
export async function lastConversation(api: Api): Promise<number> {
  const { conversations } = await api.call(assistant.actions.conversations, { limit: 1 })
  const [last] = conversations
  if (!last) throw new Exit(5, 'There is no conversation to continue: ask without -c.', 'not_found')
  return last.conversation_id
}
