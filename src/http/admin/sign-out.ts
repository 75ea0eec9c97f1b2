import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf } from '../actor.ts'

export const signOut = handle(admin.actions.sign_out, async (call) => {
  const { user_id, devices = false } = call.params
  const { accounts } = call.domain
  // Throws `not_found` for an unknown user, which would otherwise look like a user without sessions.
  await accounts.twoFactor.status(user_id)
  const sessions_ended = await accounts.sessions.endAll(user_id, administratorOf(call))
  const devices_ended = devices ? await accounts.revokeAllDevices(user_id, administratorOf(call)) : 0
  return { sessions_ended, devices_ended }
})
