import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handle.ts'
import { acting } from './acting.ts'

export const changePassword = handle(accountSettings.actions.change_password, async (call) => {
  await call.domain.accounts.changePassword(call.caller.user, call.params, acting(call))
  return {}
})
