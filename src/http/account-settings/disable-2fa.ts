import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const disable2fa = handle(accountSettings.actions.disable_2fa, async (call) => {
  await call.domain.accounts.twoFactor.disable(call.caller.user.id, call.params.totp_code, actorOf(call))
  return {}
})
