import { syncAuth } from '../../contract/sync-auth.ts'
import { handle } from '../handler.ts'

export const login2fa = handle(syncAuth.actions.login_2fa, ({ params, domain, origin }) =>
  domain.accounts.completeLogin({ ...params, ...origin }),
)
