import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/base/clock.ts'
import { codeOf, newUser, openBrowser, PASSWORD, secondFactor, signedIn, type Browser } from '../support/browser.ts'
import { serverOfTest, serverOfFile, type TestServer } from '../support/server.ts'

const SESSION = '/api/session.php'
const SETTINGS = '/api/settings.php?action='

const server = await serverOfFile()

const statusOf = async (browser: Browser) => (await browser.get(SESSION)).status
type Listed = { session_id: number; current: boolean; user_agent: string; ip: string }
const listOf = async (browser: Browser) => (await browser.get(`${SETTINGS}sessions`)).json['sessions'] as Listed[]

/** The use of the only session is noted beside the request. The server itself sees it once it is flushed, before a later write. */
async function useNoted({ database, clock }: TestServer, browser: Browser): Promise<void> {
  const use = () => database.read.q.selectFrom('sessions').select('last_used_at').executeTakeFirstOrThrow()
  await expect.poll(use).toEqual({ last_used_at: clock.now() })
  await browser.post(`${SETTINGS}profile`, { display_name: 'Ada' })
}

describe('a session', () => {
  test('ends a day after it was used last', async () => {
    const one = await serverOfTest()
    const browser = await signedIn(one, (await newUser(one)).username)
    one.clock.pass(DAY - 1)
    expect(await statusOf(browser)).toBe(200)
    await useNoted(one, browser)
    one.clock.pass(DAY - 1)
    expect(await statusOf(browser)).toBe(200)
    await useNoted(one, browser)
    one.clock.pass(DAY)
    const over = await browser.get(SESSION)
    expect([over.status, over.json['code']]).toEqual([401, 'unauthorized'])
  })

  test('ends after thirty days however much it is used', async () => {
    const one = await serverOfTest()
    const browser = await signedIn(one, (await newUser(one)).username)
    for (let time = 0; time < 59; time += 1) {
      one.clock.pass(12 * HOUR)
      expect(await statusOf(browser)).toBe(200)
      await useNoted(one, browser)
    }
    one.clock.pass(12 * HOUR)
    expect(await statusOf(browser)).toBe(401)
    await one.local.domain.instance.upkeep()
    expect(await one.database.read.q.selectFrom('sessions').selectAll().execute()).toEqual([])
  })

  test('is none when two are sent, in one header or in two names', async () => {
    const browser = await signedIn(server, (await newUser(server)).username)
    const mine = `PHPSESSID=${browser.cookie}`
    for (const cookie of [
      `${mine}; PHPSESSID=${'0'.repeat(64)}`,
      `PHPSESSID=; ${mine}`,
      `${mine}; ${mine}`,
      `a=b; ${mine};PHPSESSID=x`,
      `${mine}=`,
      `PHPSESSID="${browser.cookie}"`,
      `phpsessid=${browser.cookie}`,
      `xPHPSESSID=${browser.cookie}`,
      `PHPSESSID=${browser.cookie!.toUpperCase()}0`,
    ]) {
      const reply = await browser.get(SESSION, { cookie })
      expect([cookie, reply.status, reply.json['code']]).toEqual([cookie, 401, 'unauthorized'])
    }
    expect((await browser.get(SESSION, { cookie: `theme=dark; ${mine}; lang=en` })).status).toBe(200)
  })

  test('does not help an Authorization header that is no good', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    const { token } = await server.account()
    for (const authorization of ['', 'Bearer', `Bearer ${'0'.repeat(64)}`, `Bearer ${browser.cookie}`, 'Basic YTpi']) {
      const reply = await browser.get('/api/filesystem.php?action=list', { authorization })
      expect([reply.status, reply.json['code']]).toEqual([401, 'unauthorized'])
    }
    for (const path of [SESSION, `${SETTINGS}profile`, `${SETTINGS}devices`]) {
      expect((await browser.get(path, { authorization: `Bearer ${token}` })).status).toBe(401)
      expect((await server.send(path, { token })).status).toBe(401)
    }
    expect((await browser.post(`${SETTINGS}setup_2fa`, {}, { authorization: `Bearer ${token}` })).status).toBe(401)
    expect((await browser.get('/api/sync/status.php?action=info')).status).toBe(401)
  })

  test('ends with a logout, which clears the cookie and ends no other', async () => {
    const ada = await newUser(server)
    const [here, there] = [await signedIn(server, ada.username), await signedIn(server, ada.username)]
    const kept = here.cookie
    const reply = await here.post('/api/logout.php')
    expect([reply.status, reply.json]).toEqual([200, { success: true }])
    expect(reply.headers.get('set-cookie')).toBe('PHPSESSID=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0')
    here.cookie = kept
    expect(await statusOf(here)).toBe(401)
    expect(await statusOf(there)).toBe(200)
  })

  test('ends at once when its user is disabled, and does not come back', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    await server.local.domain.accounts.disable(ada.id)
    expect(await statusOf(browser)).toBe(401)
    await server.local.domain.accounts.enable(ada.id)
    expect(await statusOf(browser)).toBe(401)
  })

  test.each([
    ['another role', (on: TestServer, id: number) => on.local.domain.accounts.update(id, { role: 'admin' })],
    ['another password', (on: TestServer, id: number) => on.local.domain.accounts.setPassword(id, 'difference engine')],
    ['no account any more', (on: TestServer, id: number) => on.local.domain.accounts.remove(id)],
  ])('ends when its user gets %s, and the sessions of others go on', async (_, change) => {
    const [ada, bob] = [await newUser(server), await newUser(server)]
    const [hers, his] = [await signedIn(server, ada.username), await signedIn(server, bob.username)]
    await change(server, ada.id)
    expect([await statusOf(hers), await statusOf(his)]).toEqual([401, 200])
  })

  test('goes on under another name', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    await server.local.domain.accounts.update(ada.id, { display_name: 'Ada Lovelace', role: 'user' })
    expect((await browser.get(SESSION)).json['user']).toMatchObject({ display_name: 'Ada Lovelace' })
  })

  test('has the rights its user has now', async () => {
    const one = await serverOfTest()
    const root = await newUser(one, 'admin')
    const browser = await signedIn(one, root.username)
    await one.database.write('instance', (tx) =>
      tx.q.updateTable('users').set({ role: 'user' }).where('id', '=', root.id).execute(),
    )
    expect((await browser.get(SESSION)).json['user']).toMatchObject({ role: 'user' })
  })

  test('ends with maintenance, the administrators’ too, and so does a login that waits', async () => {
    const one = await serverOfTest()
    const [root, ada, eve] = [await newUser(one, 'admin'), await newUser(one), await newUser(one, 'admin')]
    const browsers = [await signedIn(one, root.username), await signedIn(one, ada.username)]
    const { secret } = await secondFactor(one, eve.id)
    const waiting = openBrowser(one)
    await waiting.login(eve.username)
    expect(await one.local.domain.instance.maintenance.begin({ message: '', until: null })).toEqual({
      sessions: 2,
      before: undefined,
    })
    for (const browser of [...browsers, waiting]) expect((await browser.get(SESSION)).json['code']).toBe('unauthorized')
    const late = await waiting.post('/login-2fa.php', { totp_code: codeOf(one, secret) })
    expect(late.status).toBe(401)
    await one.local.domain.instance.maintenance.end()
    for (const browser of browsers) expect(await statusOf(browser)).toBe(401)
    expect((await openBrowser(one).login(ada.username)).status).toBe(200)
  })

  test('is the oldest that goes when there are too many', async () => {
    const one = await serverOfTest()
    const ada = await newUser(one)
    const { database } = one
    const first = await signedIn(one, ada.username)
    one.clock.pass(MINUTE)
    const second = await signedIn(one, ada.username)
    const now = one.clock.now()
    await database.write('instance', async (tx) => {
      for (let at = 0; at < 48; at += 1) {
        const row = {
          user_id: ada.id,
          token_hash: `hash-${at}`,
          ip: '::1',
          user_agent: '',
          created_at: now,
          last_used_at: now + 1,
        }
        await tx.q.insertInto('sessions').values(row).execute()
      }
    })
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200])
    // The use of a session is noted by and by: what counts here is when they began.
    await database.write('instance', (tx) =>
      tx.q
        .updateTable('sessions')
        .set({ last_used_at: now - MINUTE })
        .where('created_at', '<', now)
        .execute(),
    )
    const last = await signedIn(one, ada.username)
    expect([await statusOf(first), await statusOf(second), await statusOf(last)]).toEqual([401, 200, 200])
    expect(await listOf(last)).toHaveLength(50)
  })
})

describe('the list of sessions', () => {
  test('shows the own ones, says which one calls, and ends one of them', async () => {
    const [ada, bob] = [await newUser(server), await newUser(server)]
    const here = openBrowser(server)
    await here.post('/api/login.php', { username: ada.username, password: PASSWORD }, { 'user-agent': 'x'.repeat(500) })
    const there = await signedIn(server, ada.username)
    const his = await signedIn(server, bob.username)
    const listed = await listOf(here)
    expect(listed.map(({ current }) => current)).toEqual([false, true])
    expect(listed[1]).toMatchObject({ ip: '127.0.0.1', user_agent: 'x'.repeat(200) })
    expect(Object.keys(listed[0]!).sort()).toEqual(
      ['created_at', 'current', 'ip', 'last_used_at', 'session_id', 'user_agent'].sort(),
    )
    const other = listed.find(({ current }) => !current)!
    const foreign = await his.post(`${SETTINGS}revoke_session`, { session_id: other.session_id })
    expect([foreign.status, foreign.json['code']]).toEqual([404, 'not_found'])
    expect(await statusOf(there)).toBe(200)
    const reply = await here.post(`${SETTINGS}revoke_session`, { session_id: other.session_id })
    expect([reply.status, reply.json]).toEqual([200, { ok: true, revoked: true }])
    expect([await statusOf(here), await statusOf(there), await statusOf(his)]).toEqual([200, 401, 200])
    expect((await here.post(`${SETTINGS}revoke_session`, { session_id: other.session_id })).status).toBe(404)
    expect(await listOf(his)).toHaveLength(1)
  })

  test.each([
    {},
    { session_id: '1' },
    { session_id: 0 },
    { session_id: 1.5 },
    { session_id: 1e300 },
    { session_id: null },
  ])('ends nothing for %j', async (body) => {
    const browser = await signedIn(server, (await newUser(server)).username)
    expect((await browser.post(`${SETTINGS}revoke_session`, body)).status).toBe(400)
    expect(await statusOf(browser)).toBe(200)
  })
})
