import { fault } from '../../contract/errors.ts'
import type { RequestOrigin } from '../instance/instance.ts'
import type { Grant, Granted, Login } from './login.ts'
import type { InSession, Sessions } from './sessions.ts'

export interface BrowserLogin extends RequestOrigin {
  isShared?: boolean
  username: string
  password: string
  /** The session cookie as sent, not yet validated. */
  cookie: string | undefined
}

export interface BrowserCompletion extends RequestOrigin {
  isShared?: boolean
  cookie: string | undefined
  code: string
}

export interface NewSession {
  /** Value of the session cookie; only its hash is stored. */
  cookie: string
  csrf_token: string
  user: InSession['user']
}

export interface BrowserLogins {
  /**
   * Exchanges a user name and a password for a session, or for the cookie of a login that waits for the second factor. Ends
   * the session the cookie names, and never adopts it (OWASP, session fixation). Throws like a device login.
   */
  begin(login: BrowserLogin): Promise<NewSession | { pending_cookie: string }>
  /** Completes a pending login. Throws `unauthorized` without a cookie, otherwise like a device login. */
  complete(completion: BrowserCompletion): Promise<NewSession>
}

/** Browser logins: the session is carried by a cookie. */
export function makeBrowserLogins({ login, sessions }: { login: Login; sessions: Sessions }): BrowserLogins {
  const grantOf = (origin: RequestOrigin, cookie: string | undefined): Grant<string> => ({
    kind: 'session',
    issue: (tx, account) => sessions.begin(tx, account.id, origin),
    replace: (tx) => sessions.forget(tx, cookie),
    replaced: () => sessions.ownerOf(cookie),
  })

  const begun = ({ account, issued: cookie }: Granted<string>): NewSession => {
    const { id, username, display_name, role, avatar_color } = account
    return {
      cookie,
      csrf_token: sessions.csrfToken(cookie),
      user: { id, username, display_name, role, avatar_color },
    }
  }

  return {
    async begin({ username, password, cookie, ...origin }) {
      const granted = await login.begin({ username, password, ...origin }, grantOf(origin, cookie))
      return 'pending_token' in granted ? { pending_cookie: granted.pending_token } : begun(granted)
    },
    async complete({ cookie, code, ...origin }) {
      if (cookie === undefined) throw fault('unauthorized')
      return begun(await login.complete({ pending_token: cookie, code, ...origin }, grantOf(origin, cookie)))
    },
  }
}
