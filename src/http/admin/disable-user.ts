import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf } from '../actor.ts'
import { userView } from './user-view.ts'

export const disableUser = handle(admin.actions.disable_user, async (call) => {
  const { user_id } = call.params
  const { sessions, devices } = await call.domain.accounts.disable(user_id, administratorOf(call))
  return { user: await userView(call.domain, user_id), sessions_ended: sessions, devices_ended: devices }
})
