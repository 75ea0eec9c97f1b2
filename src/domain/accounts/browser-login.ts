import { fault } from '../../contract/errors.ts'
import type { RequestOrigin } from '../instance/instance.ts'
import type { Grant, Granted, Login } from './login.ts'
import type { InSession, Sessions } from './sessions.ts'

export interface BrowserLogin extends RequestOrigin {
  isShared?: boolean
  username: string
  password: string
  /** What the browser sent as its session, whatever it is worth. */
  cookie: string | undefined
}

export interface BrowserCompletion extends RequestOrigin {
  isShared?: boolean
  cookie: string | undefined
  code: string
}

/** A session that just began. */
export interface InBrowser {
  /** For the browser, which is told it this once. */
  cookie: string
  csrf_token: string
  user: InSession['user']
}

export interface BrowserLogins {
  /**
   * Exchanges a name and a password for a session, or for the cookie of one that waits for the second factor. What was sent
   * as a session before ends and is never taken over. Throws as a login of a device does.
   */
  begin(login: BrowserLogin): Promise<InBrowser | { pending_cookie: string }>
  /** Completes such a login with a TOTP or backup code. Throws `unauthorized` without a cookie, else as that of a device does. */
  complete(completion: BrowserCompletion): Promise<InBrowser>
}

/** Logins of browsers, whose session travels in a cookie. */
export function makeBrowserLogins({ login, sessions }: { login: Login; sessions: Sessions }): BrowserLogins {
  const grantOf = (place: RequestOrigin, cookie: string | undefined): Grant<string> => ({
    kind: 'session',
    give: (tx, account) => sessions.begin(tx, account.id, place),
    replace: (tx) => sessions.forget(tx, cookie),
  })

  const begun = ({ account, given: cookie }: Granted<string>): InBrowser => {
    const { id, username, display_name, role, avatar_color } = account
    return {
      cookie,
      csrf_token: sessions.csrfToken(cookie),
      user: { id, username, display_name, role, avatar_color },
    }
  }

  return {
    async begin({ username, password, cookie, ...place }) {
      const granted = await login.begin({ username, password, ...place }, grantOf(place, cookie))
      return 'pending_token' in granted ? { pending_cookie: granted.pending_token } : begun(granted)
    },
    async complete({ cookie, code, ...place }) {
      if (cookie === undefined) throw fault('unauthorized')
      return begun(await login.complete({ pending_token: cookie, code, ...place }, grantOf(place, cookie)))
    },
  }
}
