import { accountSettings } from '../../contract/account-settings.ts'
import { handle } from '../handler.ts'
import { actorOf } from '../actor.ts'

export const revokeSession = handle(accountSettings.actions.revoke_session, async (call) => {
  await call.domain.accounts.sessions.revoke(call.caller.user.id, call.params.session_id, actorOf(call))
  return { revoked: true as const }
})
