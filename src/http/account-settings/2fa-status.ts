import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'

export const twoFactorStatus = handle(accountSettings.actions['2fa_status'], ({ caller, domain }) =>
  domain.accounts.twoFactor.status(caller.user.id),
)
