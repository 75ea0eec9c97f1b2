import { admin } from '../../contract/admin.ts'
import { handle } from '../handle.ts'
import { acting, confirmed } from './acting.ts'

export const setPassword = handle(admin.actions.set_password, async (call) => {
  const { user_id, password, current_password } = call.params
  await confirmed(call, current_password)
  const { sessions } = await call.domain.accounts.setPassword(user_id, password, { acting: acting(call) })
  return { sessions_ended: sessions }
})
