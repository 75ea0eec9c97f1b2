import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handle.ts'
import { acting } from './acting.ts'

export const revokeSession = handle(accountSettings.actions.revoke_session, async (call) => {
  await call.domain.accounts.sessions.revoke(call.caller.user.id, call.params.session_id, acting(call))
  return { revoked: true as const }
})
