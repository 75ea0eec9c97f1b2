import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf, confirmPassword } from '../actor.ts'

export const reset2fa = handle(admin.actions.reset_2fa, async (call) => {
  const { user_id, current_password } = call.params
  await confirmPassword(call, current_password)
  const { was, sessions } = await call.domain.accounts.twoFactor.reset(user_id, administratorOf(call))
  return { was, sessions_ended: sessions }
})
