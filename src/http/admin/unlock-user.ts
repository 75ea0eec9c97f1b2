import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf } from '../actor.ts'
import { userView } from './user-view.ts'

export const unlockUser = handle(admin.actions.unlock_user, async (call) => {
  const { user_id } = call.params
  const was_locked = await call.domain.accounts.unlock(user_id, administratorOf(call))
  return { user: await userView(call.domain, user_id), was_locked }
})
