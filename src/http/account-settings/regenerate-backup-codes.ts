import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const regenerateBackupCodes = handle(accountSettings.actions.regenerate_backup_codes, (call) =>
  call.domain.accounts.twoFactor.regenerateBackupCodes(call.caller.user.id, call.params.totp_code, actorOf(call)),
)
