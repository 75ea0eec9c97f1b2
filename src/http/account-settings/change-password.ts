import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const changePassword = handle(accountSettings.actions.change_password, async (call) => {
  await call.domain.accounts.changePassword(call.caller.user, call.params, actorOf(call))
  return {}
})
