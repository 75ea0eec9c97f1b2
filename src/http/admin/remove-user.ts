import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf, confirmPassword } from '../actor.ts'
import { heirView } from './heir.ts'

export const removeUser = handle(admin.actions.remove_user, async (call) => {
  const { user_id, files_to: heir, keep_messages: keepMessages, current_password } = call.params
  await confirmPassword(call, current_password)
  const options = { heir, keepMessages }
  const { had, messages_kept, handed_over } = await call.domain.accounts.remove(user_id, options, administratorOf(call))
  return { had, messages_kept, handed_over: await heirView(call.domain, heir, handed_over) }
})
