import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/base/clock.ts'
import { codeOf, newUser, openBrowser, PASSWORD, secondFactor, signedIn } from '../support/browser.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'

const LOGIN = '/api/login.php'
const LOGIN_2FA = '/login-2fa.php'
const SESSION = '/api/session.php'

const server = await serverOfFile()

const sessionsIn = async (on = server) => (await on.database.read.q.selectFrom('sessions').selectAll().execute()).length

describe('a login', () => {
  test('begins a session, answers the user and a CSRF token, and stores neither in the clear', async () => {
    const ada = await newUser(server)
    const browser = openBrowser(server)
    const reply = await browser.login(ada.username)
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        success: true,
        user: { id: ada.id, username: ada.username, display_name: ada.username, role: 'user' },
        csrf_token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ])
    expect(reply.headers.get('set-cookie')).toMatch(/^PHPSESSID=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/)
    const stored = JSON.stringify(await server.database.read.q.selectFrom('sessions').selectAll().execute())
    expect(stored).not.toContain(browser.cookie)
    expect(stored).not.toContain(browser.csrf)
    const session = await browser.get(SESSION)
    expect([session.status, session.json]).toEqual([200, reply.json])
  })

  test('marks the cookie as secure when users come over https', async () => {
    const secure = await serverOfTest({ flags: { public_url: 'https://cloud.example.org' } })
    const ada = await newUser(secure)
    const reply = await openBrowser(secure).login(ada.username)
    expect(reply.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  test('never takes over an id that was sent, and ends the session that was sent', async () => {
    const ada = await newUser(server)
    const first = await signedIn(server, ada.username)
    for (const sent of ['a'.repeat(64), `p_${'b'.repeat(64)}`, 'x', first.cookie!]) {
      const browser = openBrowser(server)
      browser.cookie = sent
      expect((await browser.login(ada.username)).status).toBe(200)
      expect(browser.cookie).toMatch(/^[0-9a-f]{64}$/)
      expect(browser.cookie).not.toBe(sent)
    }
    expect((await first.get(SESSION)).status).toBe(401)
  })

  test('that fails leaves everything as it was and sets no cookie', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    const before = await sessionsIn()
    const reply = await browser.login(ada.username, 'wrong password')
    expect([reply.status, reply.json]).toEqual([
      401,
      { ok: false, success: false, code: 'invalid_credentials', error: expect.any(String) as string },
    ])
    expect(reply.headers.get('set-cookie')).toBeNull()
    expect(await sessionsIn()).toBe(before)
    expect((await browser.get(SESSION)).status).toBe(200)
  })

  test('answers somebody unknown, a wrong password and a disabled user with the same bytes', async () => {
    const ada = await newUser(server)
    const eve = await newUser(server)
    await server.local.domain.accounts.disable(eve.id)
    const replies = [
      await openBrowser(server).login('nobody'),
      await openBrowser(server).login(ada.username, 'wrong password'),
      await openBrowser(server).login(eve.username),
    ]
    expect(new Set(replies.map(({ status, bytes }) => `${status} ${bytes.toString()}`)).size).toBe(1)
    expect(replies[0]!.status).toBe(401)
  })

  test.each([
    ['no password', { username: 'ada' }],
    ['no name', { password: PASSWORD }],
    ['an empty name', { username: '', password: PASSWORD }],
    ['a number for a password', { username: 'ada', password: 12_345_678 }],
    ['a list for a name', { username: ['ada'], password: PASSWORD }],
    ['a password beyond all measure', { username: 'ada', password: 'x'.repeat(10_000) }],
    ['NUL', { username: 'a\0', password: PASSWORD }],
  ])('refuses %s', async (_, body) => {
    const reply = await openBrowser(server).post(LOGIN, body)
    expect([reply.status, reply.json['code']]).toEqual([400, 'bad_request'])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json'])(
    'takes JSON only, not %s, which any page can send',
    async (type) => {
      const ada = await newUser(server)
      const browser = openBrowser(server)
      for (const path of [LOGIN, `${LOGIN}?action=login`]) {
        const reply = await browser.post(path, { username: ada.username, password: PASSWORD }, { 'content-type': type })
        expect([reply.status, reply.json['code'], browser.cookie]).toEqual([415, 'unsupported_media_type', undefined])
      }
    },
  )

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['an origin that is none', { origin: 'x' }],
    ['an origin of another port', { origin: 'http://127.0.0.1:1' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling of this site', { 'sec-fetch-site': 'same-site' }],
    ['a site that is two', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ])('is refused to a page of %s', async (_, headers) => {
    const ada = await newUser(server)
    const before = await sessionsIn()
    for (const path of [LOGIN, LOGIN_2FA]) {
      const browser = openBrowser(server)
      const body = { username: ada.username, password: PASSWORD, totp_code: '123456' }
      const reply = await browser.post(path, body, headers)
      expect([reply.status, reply.json['code'], browser.cookie]).toEqual([403, 'csrf', undefined])
    }
    expect(await sessionsIn()).toBe(before)
  })

  test('is open to a page of its own', async () => {
    const ada = await newUser(server)
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, { origin: server.url }]) {
      const reply = await openBrowser(server).post(LOGIN, { username: ada.username, password: PASSWORD }, headers)
      expect(reply.status).toBe(200)
    }
  })

  test('in parallel passes the lockout no more often than in a row, and is locked for devices too', async () => {
    const ada = await newUser(server)
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => openBrowser(server).login(ada.username, 'wrong password')),
    )
    expect(replies.filter(({ status }) => status === 401).length).toBe(5)
    expect(replies.filter(({ json }) => json['code'] === 'account_locked').length).toBe(15)
    const locked = await openBrowser(server).login(ada.username)
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '900'])
    const device = { device_id: 'laptop-0001', device_name: 'Laptop', ip: '192.0.2.1' }
    await expect(
      server.local.domain.accounts.login({ username: ada.username, password: PASSWORD, ...device }),
    ).rejects.toMatchObject({ code: 'account_locked' })
  })

  test('under maintenance is for administrators, after the right password only', async () => {
    const closed = await serverOfTest()
    const ada = await newUser(closed)
    const root = await newUser(closed, 'admin')
    await closed.local.domain.instance.maintenance.begin({ message: 'Back after tea.', until: null })
    expect((await openBrowser(closed).login(ada.username, 'wrong password')).json['code']).toBe('invalid_credentials')
    const refused = await openBrowser(closed).login(ada.username)
    expect([refused.status, refused.json['code'], refused.json['message']]).toEqual([
      503,
      'maintenance',
      'Back after tea.',
    ])
    const browser = openBrowser(closed)
    expect((await browser.login(root.username)).status).toBe(200)
    expect((await browser.get(SESSION)).status).toBe(200)
  })
})

describe('a login with a second factor', () => {
  const waiting = async (on = server) => {
    const ada = await newUser(on)
    const { secret, backup } = await secondFactor(on, ada.id)
    const browser = openBrowser(on)
    const reply = await browser.login(ada.username)
    return { ada, secret, backup, browser, reply }
  }

  test('waits for the code, and is good for nothing else until then', async () => {
    const { browser, reply, secret, ada } = await waiting()
    expect([reply.status, reply.json]).toEqual([200, { success: true, requires_2fa: true }])
    expect(browser.cookie).toMatch(/^p_[0-9a-f]{64}$/)
    const pending = browser.cookie
    const others = [
      browser.get(SESSION),
      browser.get('/api/settings.php?action=profile'),
      browser.get('/api/filesystem.php?action=list'),
      browser.post('/api/logout.php'),
      browser.post('/api/settings.php?action=disable_2fa', { totp_code: codeOf(server, secret) }),
    ]
    for (const other of await Promise.all(others))
      expect([other.status, other.json['code']]).toEqual([401, '2fa_required'])
    const done = await browser.post(LOGIN_2FA, { totp_code: codeOf(server, secret) })
    expect([done.status, done.json]).toEqual([
      200,
      {
        success: true,
        user: { id: ada.id, username: ada.username, display_name: ada.username, role: 'user' },
        csrf_token: expect.any(String) as string,
      },
    ])
    expect(browser.cookie).toMatch(/^[0-9a-f]{64}$/)
    expect((await browser.get(SESSION)).status).toBe(200)
    browser.cookie = pending
    expect((await browser.get(SESSION)).json['code']).toBe('unauthorized')
  })

  test('ends the session that was there before', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    const before = openBrowser(server)
    before.cookie = browser.cookie
    await secondFactor(server, ada.id)
    expect((await browser.login(ada.username)).json['requires_2fa']).toBe(true)
    expect((await before.get(SESSION)).status).toBe(401)
  })

  test.each(['totp_code', 'backup_code'])('takes a backup code once, as %s', async (field) => {
    const { browser, backup, ada } = await waiting()
    expect((await browser.post(LOGIN_2FA, { [field]: backup[0] })).status).toBe(200)
    const again = openBrowser(server)
    await again.login(ada.username)
    const reply = await again.post(LOGIN_2FA, { [field]: backup[0] })
    expect([reply.status, reply.json['code']]).toEqual([401, 'invalid_code'])
  })

  test('is refused without a cookie, without a code, with a wrong one, and with a cookie that waits for nothing', async () => {
    const { browser, secret, ada } = await waiting()
    const code = codeOf(server, secret)
    const outcome = async (from: typeof browser, body: object) => {
      const { status, json, headers } = await from.post(LOGIN_2FA, body)
      expect(headers.get('set-cookie')).toBeNull()
      return [status, json['code']]
    }
    expect(await outcome(openBrowser(server), { totp_code: code })).toEqual([401, 'unauthorized'])
    expect(await outcome(browser, {})).toEqual([400, 'bad_request'])
    expect(await outcome(browser, { totp_code: 123_456 })).toEqual([400, 'bad_request'])
    expect(await outcome(browser, { totp_code: '000000' === code ? '000001' : '000000' })).toEqual([
      401,
      'invalid_code',
    ])
    const other = await signedIn(server, (await newUser(server)).username)
    for (const cookie of [other.cookie, 'x', `p_${'0'.repeat(64)}`]) {
      const foreign = openBrowser(server)
      foreign.cookie = cookie
      expect(await outcome(foreign, { totp_code: code })).toEqual([401, 'invalid_code'])
    }
    // A token that waits for a device's login is none of a browser's.
    const device = { device_id: 'laptop-0001', device_name: 'Laptop', ip: '192.0.2.1' }
    const begun = await server.local.domain.accounts.login({ username: ada.username, password: PASSWORD, ...device })
    const mixed = openBrowser(server)
    mixed.cookie = (begun as { pending_token: string }).pending_token
    expect(await outcome(mixed, { totp_code: code })).toEqual([401, 'invalid_code'])
    expect((await browser.post(LOGIN_2FA, { totp_code: code })).status).toBe(200)
  })

  test('waits for five minutes', async () => {
    const late = await serverOfTest()
    const { browser } = await waiting(late)
    late.clock.pass(5 * MINUTE)
    expect((await browser.get(SESSION)).json['code']).toBe('unauthorized')
    const reply = await browser.post(LOGIN_2FA, { totp_code: '123456' })
    expect([reply.status, reply.json['code']]).toEqual([401, 'invalid_code'])
  })

  test.each(['one step', 'one backup code'])(
    'succeeds once with %s, however many try at the same moment',
    async (what) => {
      const { ada, secret, backup } = await waiting()
      const body = what === 'one step' ? { totp_code: codeOf(server, secret) } : { backup_code: backup[3] }
      const browsers = Array.from({ length: 4 }, () => openBrowser(server))
      for (const browser of browsers) await browser.login(ada.username)
      const before = await sessionsIn()
      const replies = await Promise.all(browsers.map((browser) => browser.post(LOGIN_2FA, body)))
      expect(replies.map(({ status }) => String(status)).sort()).toEqual(['200', '401', '401', '401'])
      expect(await sessionsIn()).toBe(before + 1)
    },
  )
})
