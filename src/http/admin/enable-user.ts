import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf } from '../actor.ts'
import { userView } from './user-view.ts'

export const enableUser = handle(admin.actions.enable_user, async (call) => {
  const { user_id } = call.params
  await call.domain.accounts.enable(user_id, administratorOf(call))
  return { user: await userView(call.domain, user_id) }
})
