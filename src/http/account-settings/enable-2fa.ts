import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const enable2fa = handle(accountSettings.actions.enable_2fa, async (call) => {
  const { caller, domain, origin, params } = call
  const { accounts } = domain
  await accounts.confirmPresence(caller, params.current_password, origin)
  const options = { endOthers: params.end_others }
  return accounts.twoFactor.enable(caller.user.id, params.totp_code, actorOf(call), options)
})
