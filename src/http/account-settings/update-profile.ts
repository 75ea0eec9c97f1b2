import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const updateProfile = handle(accountSettings.actions.update_profile, async (call) => ({
  user: await call.domain.accounts.update(call.caller.user.id, call.params, actorOf(call)),
}))
