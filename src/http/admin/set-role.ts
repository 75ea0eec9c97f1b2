import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf, confirmPassword } from '../actor.ts'
import { userView } from './user-view.ts'

export const setRole = handle(admin.actions.set_role, async (call) => {
  const { user_id, role, current_password } = call.params
  await confirmPassword(call, current_password)
  const { sessions_ended } = await call.domain.accounts.update(user_id, { role }, administratorOf(call))
  return { user: await userView(call.domain, user_id), sessions_ended }
})
