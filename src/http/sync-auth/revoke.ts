import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handle.ts'

export const revoke = handle(syncAuth.actions.revoke, async ({ params, caller, domain }) => {
  await domain.accounts.revokeDevice(caller.user.id, params.token_id)
  return { revoked: true as const }
})
