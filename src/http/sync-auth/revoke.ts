import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handler.ts'

export const revoke = handle(syncAuth.actions.revoke, async ({ params, caller, domain, origin }) => {
  await domain.accounts.revokeDevice(caller.user.id, params.token_id, origin)
  return { revoked: true as const }
})
