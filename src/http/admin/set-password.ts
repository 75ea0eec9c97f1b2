import { admin } from '../../contract/admin.ts'
import { handle } from '../handler.ts'
import { administratorOf, confirmPassword } from '../actor.ts'

export const setPassword = handle(admin.actions.set_password, async (call) => {
  const { user_id, password, keep_devices = false, current_password } = call.params
  await confirmPassword(call, current_password)
  const options = { keep_devices, actor: administratorOf(call) }
  const { sessions, devices } = await call.domain.accounts.setPassword(user_id, password, options)
  return { sessions_ended: sessions, devices_ended: devices }
})
