import { badRequest } from '../../contract/errors.ts'
import { sessionLogin2fa } from '../../contract/session.ts'
import { handle } from '../handler.ts'

export const login2fa = handle(
  sessionLogin2fa.actions.login_2fa,
  async ({ params, cookie, origin, domain, setCookie }) => {
    const code = params.totp_code ?? params.backup_code
    if (code === undefined) throw badRequest('totp_code', 'is missing')
    const login = await domain.accounts.browserLogins.complete({ ...origin, cookie, code })
    await setCookie(login.cookie)
    return { user: login.user, csrf_token: login.csrf_token }
  },
)
