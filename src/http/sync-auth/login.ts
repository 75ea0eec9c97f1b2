import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handler.ts'

export const login = handle(syncAuth.actions.login, async ({ params, domain, origin }) => {
  const begun = await domain.accounts.login({ ...params, ...origin })
  return 'pending_token' in begun ? { requires_2fa: true as const, ...begun } : begun
})
