import { sessionLogout } from '../../contract/session.ts'
import { handle } from '../handler.ts'

export const logout = handle(sessionLogout.actions.logout, async ({ caller, origin, domain, setCookie }) => {
  await domain.accounts.sessions.end(caller, origin)
  await setCookie(undefined)
  return {}
})
