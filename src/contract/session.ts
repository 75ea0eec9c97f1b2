import { action, endpoint, none } from './define.ts'
import { Role, User } from './shapes.ts'
import { Code, Password, Username } from './sync-auth.ts'
import { Type } from './schema.ts'

const Success = Type.Literal(true)
const CsrfToken = Type.String({ description: 'Send it as `X-CSRF-Token` with every POST of this session.' })
const SessionUser = Type.Object({ ...User.properties, role: Role })

/** Login of a browser; the session cookie is `PHPSESSID`. */
export const sessionLogin = endpoint('/api/login.php', {
  login: action({
    summary: 'Start a session with user name and password.',
    method: 'POST',
    byDefault: true,
    auth: 'anyone',
    limit: 'anonymous',
    sameOrigin: true,
    openIn: ['maintenance'],
    params: Type.Object({ username: Username, password: Password }),
    answersHeaders: ['Set-Cookie'],
    result: Type.Object({
      success: Success,
      user: Type.Optional(SessionUser),
      csrf_token: Type.Optional(CsrfToken),
      requires_2fa: Type.Optional(Success),
    }),
    errors: ['invalid_credentials', 'account_locked', 'rate_limited', 'maintenance', 'busy', 'csrf'],
    example: { username: 'ada', password: 'analytical engine' },
  }),
})

export const sessionLogin2fa = endpoint('/login-2fa.php', {
  login_2fa: action({
    summary: 'Complete a login that waits for the second factor.',
    method: 'POST',
    byDefault: true,
    auth: 'anyone',
    limit: 'anonymous',
    sameOrigin: true,
    openIn: ['maintenance'],
    params: Type.Object({ totp_code: Type.Optional(Code), backup_code: Type.Optional(Code) }),
    answersHeaders: ['Set-Cookie'],
    result: Type.Object({ success: Success, user: SessionUser, csrf_token: CsrfToken }),
    errors: ['unauthorized', 'invalid_code', 'account_locked', 'rate_limited', 'maintenance', 'csrf'],
    example: { totp_code: '123456' },
  }),
})

export const session = endpoint('/api/session.php', {
  session: action({
    summary: 'User and CSRF token of the session.',
    method: 'GET',
    byDefault: true,
    auth: { session: true },
    limit: 'none',
    openIn: ['maintenance'],
    params: none,
    result: Type.Object({ success: Success, user: SessionUser, csrf_token: CsrfToken }),
    errors: ['2fa_required'],
    example: {},
  }),
})

export const sessionLogout = endpoint('/api/logout.php', {
  logout: action({
    summary: 'End the session.',
    method: 'POST',
    byDefault: true,
    auth: { session: true },
    limit: 'none',
    openIn: ['maintenance'],
    params: none,
    answersHeaders: ['Set-Cookie'],
    result: Type.Object({ success: Success }),
    errors: ['csrf'],
    example: {},
  }),
})
