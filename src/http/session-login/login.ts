import { sessionLogin } from '../../contract/session.ts'
import { handle } from '../handler.ts'

export const login = handle(sessionLogin.actions.login, async ({ params, cookie, origin, domain, setCookie }) => {
  const begun = await domain.accounts.browserLogins.begin({ ...params, ...origin, cookie })
  if ('pending_cookie' in begun) {
    await setCookie(begun.pending_cookie)
    return { requires_2fa: true as const }
  }
  await setCookie(begun.cookie)
  return { user: begun.user, csrf_token: begun.csrf_token }
})
