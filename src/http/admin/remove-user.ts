import { admin } from '../../contract/admin.ts'
import { handle } from '../handle.ts'
import { acting, confirmed } from './acting.ts'
import { heirView } from './heir.ts'

export const removeUser = handle(admin.actions.remove_user, async (call) => {
  const { user_id, files_to, current_password } = call.params
  await confirmed(call, current_password)
  const { had, handed_over } = await call.domain.accounts.remove(user_id, files_to, acting(call))
  return { had, handed_over: await heirView(call.domain, files_to, handed_over) }
})
