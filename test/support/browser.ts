import { generateSync } from 'otplib'
import { request, type Reply } from './request.ts'
import type { TestServer } from './server.ts'

export const PASSWORD = 'analytical engine'

type Headers = Record<string, string>

/** A browser with its session cookie and its last CSRF token. */
export interface Browser {
  cookie: string | undefined
  csrf: string | undefined
  get(path: string, headers?: Headers): Promise<Reply>
  /** Posts JSON with the CSRF token as a header, unless overridden. */
  post(path: string, body?: object, headers?: Headers): Promise<Reply>
  login(username: string, password?: string): Promise<Reply>
}

let people = 0

/** An account with the default password. */
export const newUser = ({ local }: TestServer, role: 'user' | 'admin' = 'user') =>
  local.domain.accounts.create({ username: `person-${++people}`, password: PASSWORD, role })

const SET_COOKIE = /^PHPSESSID=([^;]*)/

export function openBrowser({ url }: TestServer): Browser {
  const browser: Browser = {
    cookie: undefined,
    csrf: undefined,
    get: (path, headers = {}) => send(path, { headers: { ...cookies(), ...headers } }),
    post: (path, body = {}, headers = {}) =>
      send(path, {
        method: 'POST',
        headers: {
          ...cookies(),
          'content-type': 'application/json',
          ...(browser.csrf === undefined ? {} : { 'x-csrf-token': browser.csrf }),
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    login: (username, password = PASSWORD) => browser.post('/api/login.php', { username, password }),
  }
  const cookies = (): Headers => (browser.cookie === undefined ? {} : { cookie: `PHPSESSID=${browser.cookie}` })

  async function send(path: string, sent: { method?: string; headers: Headers; body?: string }): Promise<Reply> {
    const reply = await request(url, path, sent)
    const set = SET_COOKIE.exec(reply.headers.get('set-cookie') ?? '')?.[1]
    if (set !== undefined) browser.cookie = set === '' ? undefined : set
    if (reply.headers.get('content-type')?.startsWith('application/json')) {
      const { csrf_token } = reply.json
      if (typeof csrf_token === 'string') browser.csrf = csrf_token
    }
    return reply
  }
  return browser
}

/** A browser with a signed-in user. */
export async function signedIn(server: TestServer, username: string, password = PASSWORD): Promise<Browser> {
  const browser = openBrowser(server)
  const reply = await browser.login(username, password)
  if (reply.status !== 200 || browser.csrf === undefined) throw new Error(`No login: ${reply.bytes.toString()}`)
  return browser
}

/** The TOTP code of a secret at the server's time, shifted by some seconds. */
export const codeOf = (server: TestServer, secret: string, seconds = 0): string =>
  generateSync({ secret, epoch: Math.floor(server.clock.now() / 1_000) + seconds })

/** Enables a user's second factor. */
export async function secondFactor(server: TestServer, user: number): Promise<{ secret: string; backup: string[] }> {
  const { twoFactor } = server.local.domain.accounts
  const { secret } = await twoFactor.setUp(user, 'svc')
  const { backup_codes: backup } = await twoFactor.enable(user, codeOf(server, secret))
  return { secret, backup }
}

/** Headers of a session that was created without signing in. */
export async function sessionOf({ local, database }: TestServer, user: number): Promise<Record<string, string>> {
  const { sessions } = local.domain.accounts
  const cookie = await database.write('instance', (tx) =>
    sessions.begin(tx, user, { ip: '127.0.0.1', userAgent: 'Browser' }),
  )
  return { cookie: `PHPSESSID=${cookie}`, 'x-csrf-token': sessions.csrfToken(cookie) }
}
