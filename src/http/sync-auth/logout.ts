import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handler.ts'

export const logout = handle(syncAuth.actions.logout, async ({ caller, domain, origin }) => {
  await domain.accounts.logout(caller, origin)
  return {}
})
