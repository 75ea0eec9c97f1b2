import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { heirView } from './heir.ts'

export const removal = handle(admin.actions.removal, async ({ params, domain }) => {
  const { user_id, files_to: heir, keep_messages: keepMessages } = params
  const { has, messages_kept, hands_over } = await domain.accounts.planRemoval(user_id, { heir, keepMessages })
  return { has, messages_kept, hands_over: await heirView(domain, heir, hands_over) }
})
