import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const revokeDevice = handle(accountSettings.actions.revoke_device, async (call) => {
  await call.domain.accounts.revokeDevice(call.caller.user.id, call.params.token_id, actorOf(call))
  return { revoked: true as const }
})
