import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handle.ts'
import { acting } from './acting.ts'

export const enable2fa = handle(accountSettings.actions.enable_2fa, (call) =>
  call.domain.accounts.twoFactor.enable(call.caller.user.id, call.params.totp_code, acting(call)),
)
