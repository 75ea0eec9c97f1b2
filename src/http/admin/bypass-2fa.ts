import { iso, MINUTE } from '../../base/clock.ts'
import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf, confirmPassword } from '../actor.ts'

const STANDARD = 10

export const bypass2fa = handle(admin.actions.bypass_2fa, async (call) => {
  const { user_id, minutes = STANDARD, current_password } = call.params
  await confirmPassword(call, current_password)
  const { code, expires_at } = await call.domain.accounts.twoFactor.bypass(
    user_id,
    minutes * MINUTE,
    administratorOf(call),
  )
  return { code, expires_at: iso(expires_at) }
})
