import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/base/clock.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { codeOf, newUser, openBrowser, PASSWORD, secondFactor, signedIn, type Browser } from '../support/browser.ts'
import { folderOfTest, serverOfTest, serverOfFile } from '../support/server.ts'
import { request, requestOf } from '../support/request.ts'

const SETTINGS = '/api/settings.php?action='
const STEP = 30_000

const server = await serverOfFile()

const outcome = async (reply: ReturnType<Browser['post']>) => {
  const { status, json } = await reply
  return status === 200 ? 200 : [status, json['code']]
}
const sessionStatus = async (browser: Browser) => (await browser.get('/api/session.php')).status

const missing = ['oathtool', 'zbarimg', 'rsvg-convert'].filter((tool) => {
  try {
    execFileSync('which', [tool])
    return false
  } catch {
    return true
  }
})

describe('the second factor', () => {
  test.skipIf(missing.length > 0)(
    `is set up from its picture by somebody else's tools${missing.length > 0 ? ` (missing here: ${missing.join(', ')})` : ''}`,
    async () => {
      const ada = await newUser(server)
      const browser = await signedIn(server, ada.username)
      const { json } = await browser.post(`${SETTINGS}setup_2fa`)
      expect(Object.keys(json).sort()).toEqual(['ok', 'otpauth_url', 'qr_code_url', 'secret'])
      const [head, data = ''] = (json['qr_code_url'] as string).split(',')
      expect(head).toBe('data:image/svg+xml;base64')
      const folder = await folderOfTest()
      const [svg, png] = [join(folder, 'code.svg'), join(folder, 'code.png')]
      writeFileSync(svg, Buffer.from(data, 'base64'))
      execFileSync('rsvg-convert', ['--width', '400', '--output', png, svg])
      const read = execFileSync('zbarimg', ['--quiet', '--raw', png], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
      expect(read).toBe(json['otpauth_url'])
      const secret = new URL(read).searchParams.get('secret')!
      expect(secret).toBe(json['secret'])
      const now = new Date(server.clock.now()).toISOString().replace('T', ' ').replace(/\..*/, ' UTC')
      const code = execFileSync('oathtool', ['--totp', '--base32', '--now', now, secret], { encoding: 'utf8' }).trim()
      const enabled = await browser.post(`${SETTINGS}enable_2fa`, { totp_code: code })
      expect([enabled.status, (enabled.json['backup_codes'] as string[]).length]).toEqual([200, 8])
    },
  )

  test('is named after the host that users come to', async () => {
    const one = await serverOfTest({ flags: { public_url: 'https://cloud.example.org:8443' } })
    const browser = await signedIn(one, (await newUser(one)).username)
    const url = new URL((await browser.post(`${SETTINGS}setup_2fa`)).json['otpauth_url'] as string)
    expect(url.searchParams.get('issuer')).toBe('cloud.example.org')
  })

  test('goes on and off, with a code each time, and says how many backup codes are left', async () => {
    const one = await serverOfTest()
    const ada = await newUser(one)
    const [here, there] = [await signedIn(one, ada.username), await signedIn(one, ada.username)]
    const status = async () => (await here.get(`${SETTINGS}2fa_status`)).json
    expect(await status()).toEqual({ ok: true, enabled: false, backup_codes_left: 0 })
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, { totp_code: '123456' }))).toEqual([409, 'conflict'])
    const { secret } = (await here.post(`${SETTINGS}setup_2fa`)).json as { secret: string }
    const wrong = codeOf(one, secret, 300)
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, { totp_code: wrong }))).toEqual([401, 'invalid_code'])
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, { totp_code: codeOf(one, secret) }))).toBe(200)
    expect(await status()).toEqual({ ok: true, enabled: true, backup_codes_left: 8 })
    expect(await outcome(here.post(`${SETTINGS}setup_2fa`))).toEqual([409, 'conflict'])
    expect(await sessionStatus(there)).toBe(200)

    one.clock.pass(STEP)
    const renewed = await here.post(`${SETTINGS}regenerate_backup_codes`, { totp_code: codeOf(one, secret) })
    const codes = renewed.json['backup_codes'] as string[]
    expect([renewed.status, new Set(codes).size]).toEqual([200, 8])
    expect(await outcome(here.post(`${SETTINGS}disable_2fa`, { totp_code: codeOf(one, secret) }))).toEqual([
      401,
      'invalid_code',
    ])
    expect(await outcome(here.post(`${SETTINGS}disable_2fa`, { totp_code: codes[0] }))).toEqual([401, 'invalid_code'])
    one.clock.pass(STEP)
    expect(await outcome(here.post(`${SETTINGS}disable_2fa`, { totp_code: codeOf(one, secret) }))).toBe(200)
    expect(await status()).toEqual({ ok: true, enabled: false, backup_codes_left: 0 })
    expect([await sessionStatus(here), await sessionStatus(there)]).toEqual([200, 401])
    expect(await outcome(here.post(`${SETTINGS}disable_2fa`, { totp_code: '123456' }))).toEqual([409, 'conflict'])
  })

  test('is set up without the password only by somebody who has just signed in', async () => {
    const one = await serverOfTest()
    const ada = await newUser(one)
    const here = await signedIn(one, ada.username)
    const setUp = (body = {}) => here.post(`${SETTINGS}setup_2fa`, body)
    // A wrong password is refused at any time, and counted like that of a login.
    expect(await outcome(setUp({ current_password: 'wrong' }))).toEqual([401, 'invalid_credentials'])
    const { secret: early } = (await setUp()).json as { secret: string }

    one.clock.pass(10 * MINUTE)
    expect(await outcome(setUp())).toEqual([403, 'password_required'])
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, { totp_code: codeOf(one, early) }))).toEqual([
      403,
      'password_required',
    ])
    const { secret } = (await setUp({ current_password: PASSWORD })).json as { secret: string }
    const right = { totp_code: codeOf(one, secret), current_password: PASSWORD }
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, { ...right, current_password: 'wrong' }))).toEqual([
      401,
      'invalid_credentials',
    ])
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, right))).toBe(200)
  })

  test('signs out all other sessions and all devices with it, where the user says so', async () => {
    const one = await serverOfTest()
    const ada = await newUser(one)
    const [here, there] = [await signedIn(one, ada.username), await signedIn(one, ada.username)]
    const { token } = await one.local.domain.accounts.mintToken(ada.id, { ttl: MINUTE })
    const { secret } = (await here.post(`${SETTINGS}setup_2fa`)).json as { secret: string }
    const body = { totp_code: codeOf(one, secret), end_others: true }
    expect(await outcome(here.post(`${SETTINGS}enable_2fa`, body))).toBe(200)
    const sessionStatusOf = async (browser: Browser) => (await browser.get('/api/session.php')).status
    expect([await sessionStatusOf(here), await sessionStatusOf(there)]).toEqual([200, 401])
    expect((await request(one.url, ...requestOf(syncStatus.actions.info, {}, { token }))).status).toBe(401)
    const audited = await one.local.domain.instance.audit.list({ limit: 5 })
    expect(audited[0]).toMatchObject({ kind: '2fa.enabled', detail: '{"sessions_ended":1,"devices_ended":1}' })
  })

  test('is closed for a quarter of an hour after five wrong codes', async () => {
    const one = await serverOfTest()
    const ada = await newUser(one)
    const browser = await signedIn(one, ada.username)
    const { secret } = await secondFactor(one, ada.id)
    const wrong = codeOf(one, secret, 3_000)
    for (let time = 0; time < 5; time += 1)
      expect(await outcome(browser.post(`${SETTINGS}disable_2fa`, { totp_code: wrong }))).toEqual([401, 'invalid_code'])
    one.clock.pass(STEP)
    const locked = await browser.post(`${SETTINGS}disable_2fa`, { totp_code: codeOf(one, secret) })
    expect([locked.status, locked.json['code'], locked.headers.get('retry-after')]).toEqual([
      429,
      'account_locked',
      '870',
    ])
    one.clock.pass(15 * MINUTE)
    expect(await outcome(browser.post(`${SETTINGS}disable_2fa`, { totp_code: codeOf(one, secret) }))).toBe(200)
  })
})

describe('changing the password', () => {
  const change = (browser: Browser, current_password: unknown, new_password: unknown) =>
    browser.post(`${SETTINGS}change_password`, { current_password, new_password })

  test('takes the current one, ends the other sessions and the devices and keeps this session', async () => {
    const ada = await newUser(server)
    const [here, there] = [await signedIn(server, ada.username), await signedIn(server, ada.username)]
    const device = { username: ada.username, password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop' }
    const login = await server.local.domain.accounts.login({ ...device, ip: '192.0.2.1' })
    const { token } = login as { token: string }
    const reply = await change(here, PASSWORD, 'difference engine')
    expect([reply.status, reply.json]).toEqual([200, { ok: true }])
    expect([await sessionStatus(here), await sessionStatus(there)]).toEqual([200, 401])
    expect((await request(server.url, ...requestOf(syncStatus.actions.info, {}, { token }))).status).toBe(401)
    expect((await openBrowser(server).login(ada.username)).status).toBe(401)
    expect((await openBrowser(server).login(ada.username, 'difference engine')).status).toBe(200)
  })

  test('leaves other sessions and the devices signed in where the user says so', async () => {
    const ada = await newUser(server)
    const [here, there] = [await signedIn(server, ada.username), await signedIn(server, ada.username)]
    const { token } = await server.local.domain.accounts.mintToken(ada.id, { ttl: MINUTE })
    const passwords = { current_password: PASSWORD, new_password: 'difference engine', end_others: false }
    expect((await here.post(`${SETTINGS}change_password`, passwords)).status).toBe(200)
    expect([await sessionStatus(here), await sessionStatus(there)]).toEqual([200, 200])
    expect((await request(server.url, ...requestOf(syncStatus.actions.info, {}, { token }))).status).toBe(200)
  })

  test('refuses what is made of names that everybody knows, and the most common of all', async () => {
    const one = await serverOfTest({ flags: { public_url: 'https://cloud.example.org' } })
    await one.local.domain.accounts.create({ username: 'lovelace', display_name: 'Ada Byron', password: PASSWORD })
    const here = await signedIn(one, 'lovelace')
    for (const weak of [
      'Lovelace1815',
      'svc-svc-svc',
      'ADA.byron!',
      'byronada2026',
      'cloud.example.org',
      'spongebob1',
      'manchester',
    ]) {
      const reply = await change(here, PASSWORD, weak)
      expect([weak, reply.status, reply.json['details']]).toEqual([
        weak,
        400,
        [{ path: 'new_password', message: expect.any(String) as string }],
      ])
    }
    expect((await change(here, PASSWORD, 'lovelace of the engine')).status).toBe(200)
  })

  test('ends a login that waits for its code', async () => {
    const ada = await newUser(server)
    const here = await signedIn(server, ada.username)
    const { secret } = await secondFactor(server, ada.id)
    const waiting = openBrowser(server)
    await waiting.login(ada.username)
    expect((await change(here, PASSWORD, 'difference engine')).status).toBe(200)
    expect((await waiting.post('/login-2fa.php', { totp_code: codeOf(server, secret) })).status).toBe(401)
  })

  test('with a wrong one counts like a failed login, and changes nothing', async () => {
    const ada = await newUser(server)
    const [here, there] = [await signedIn(server, ada.username), await signedIn(server, ada.username)]
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => change(here, 'wrong password', 'difference engine')),
    )
    expect(replies.filter(({ json }) => json['code'] === 'invalid_credentials')).toHaveLength(5)
    expect(replies.filter(({ json }) => json['code'] === 'account_locked')).toHaveLength(3)
    expect((await change(here, PASSWORD, 'difference engine')).status).toBe(429)
    expect((await openBrowser(server).login(ada.username)).status).toBe(429)
    expect([await sessionStatus(here), await sessionStatus(there)]).toEqual([200, 200])
    await server.local.domain.accounts.unlock(ada.id)
    expect((await openBrowser(server).login(ada.username)).status).toBe(200)
  })

  test('happens once when two do it at the same moment', async () => {
    const ada = await newUser(server)
    const here = await signedIn(server, ada.username)
    const words = ['difference engine', 'jacquard loom']
    const replies = await Promise.all(words.map((word) => change(here, PASSWORD, word)))
    expect(replies.map(({ status }) => String(status)).sort()).toEqual(['200', '401'])
    const winner = words[replies.findIndex(({ status }) => status === 200)]!
    expect((await openBrowser(server).login(ada.username, winner)).status).toBe(200)
  })

  test.each([
    ['too short', 'short'],
    ['too long', 'x'.repeat(1_025)],
    ['too common', 'password1'],
    ['no text', 12_345_678],
    ['missing', undefined],
    ['with NUL', 'analytical\0engine'],
    ['with half a character', 'analytical\ud800'],
  ])('refuses a new one that is %s, and counts nothing', async (_, word) => {
    const ada = await newUser(server)
    const here = await signedIn(server, ada.username)
    for (let time = 0; time < 6; time += 1)
      expect(await outcome(change(here, PASSWORD, word))).toEqual([400, 'bad_request'])
    expect((await openBrowser(server).login(ada.username)).status).toBe(200)
  })

  test('may be tried ten times a minute', async () => {
    const one = await serverOfTest({ limits: true })
    const here = await signedIn(one, (await newUser(one)).username)
    for (let time = 0; time < 10; time += 1) expect((await change(here, PASSWORD, 'short')).status).toBe(400)
    expect(await outcome(change(here, PASSWORD, 'short'))).toEqual([429, 'rate_limited'])
  })
})

describe('the profile', () => {
  test('shows and changes name and colour, and nothing else', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    const profile = {
      id: ada.id,
      username: ada.username,
      display_name: ada.username,
      role: 'user',
      avatar_color: ada.avatar_color,
    }
    expect((await browser.get(`${SETTINGS}profile`)).json).toEqual({ ok: true, user: profile })
    const changed = { ...profile, display_name: 'Ada Lovelace', avatar_color: '#336699' }
    const more = { role: 'admin', quota_bytes: -1, username: 'root', id: 1 }
    const reply = await browser.post(`${SETTINGS}profile`, {
      display_name: 'Ada Lovelace',
      avatar_color: '#336699',
      ...more,
    })
    expect([reply.status, reply.json]).toEqual([200, { ok: true, user: changed }])
    expect((await browser.get(`${SETTINGS}profile`)).json).toEqual({ ok: true, user: changed })
    expect(await server.local.domain.accounts.byName(ada.username)).toMatchObject({ role: 'user', quota_bytes: null })
    expect(await sessionStatus(browser)).toBe(200)
  })

  test.each([
    { display_name: '' },
    { display_name: '   ' },
    { display_name: 'x'.repeat(101) },
    { display_name: 'a\nb' },
    { display_name: 'a\u202eb' },
    { display_name: 5 },
    { avatar_color: 'red' },
    { avatar_color: '#ABCDEF' },
    { avatar_color: '#33669' },
    { avatar_color: '#336699; x' },
  ])('refuses %j', async (body) => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    expect(await outcome(browser.post(`${SETTINGS}profile`, body))).toEqual([400, 'bad_request'])
    expect((await browser.get(`${SETTINGS}profile`)).json['user']).toMatchObject({ display_name: ada.username })
  })
})

describe('a display name', () => {
  test('is none under which the service writes, whatever letters it is written in', async () => {
    const ada = await newUser(server)
    const browser = await signedIn(server, ada.username)
    for (const display_name of [
      'assistant',
      ' ASSISTANT',
      'аssistаnt',
      'Ａssistant',
      'as\u200bsis\u00adtant',
      'Asslstant',
      'As-sis-tánt',
      'Assistent',
      'Former user',
      'former  usеr',
      'Ehemaliger Benutzer',
    ])
      expect([display_name, await outcome(browser.post(`${SETTINGS}profile`, { display_name }))]).toEqual([
        display_name,
        [400, 'bad_request'],
      ])
    expect(await outcome(browser.post(`${SETTINGS}profile`, { display_name: 'Assistant of Ada' }))).toBe(200)
    const { accounts } = server.local.domain
    await expect(accounts.create({ username: 'assistant', password: PASSWORD })).rejects.toThrow('itself writes')
  })

  test('is not the user name of somebody else, unless an administrator gives it', async () => {
    const [ada, bob] = [await newUser(server), await newUser(server)]
    const browser = await signedIn(server, bob.username)
    for (const display_name of [ada.username, ada.username.toUpperCase(), ada.username.replace('e', 'е')])
      expect(await outcome(browser.post(`${SETTINGS}profile`, { display_name }))).toEqual([400, 'bad_request'])
    expect(await outcome(browser.post(`${SETTINGS}profile`, { display_name: bob.username }))).toBe(200)
    const { accounts } = server.local.domain
    expect(await accounts.update(bob.id, { display_name: ada.username })).toMatchObject({ display_name: ada.username })
    // What was set stays, also when it is sent again with something else.
    const again = { display_name: ada.username, avatar_color: '#336699' }
    expect(await outcome(browser.post(`${SETTINGS}profile`, again))).toBe(200)
  })
})

describe('devices', () => {
  test('are listed and revoked by their owner only', async () => {
    const [ada, bob] = [await newUser(server), await newUser(server)]
    const [hers, his] = [await signedIn(server, ada.username), await signedIn(server, bob.username)]
    const device = { username: ada.username, password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop' }
    const { token } = (await server.local.domain.accounts.login({ ...device, ip: '192.0.2.1' })) as { token: string }
    const { devices } = (await hers.get(`${SETTINGS}devices`)).json as { devices: { token_id: number }[] }
    expect(devices).toMatchObject([
      { device_id: 'laptop-0001', device_name: 'Laptop', last_ip: '192.0.2.1', current: false },
    ])
    expect((await his.get(`${SETTINGS}devices`)).json['devices']).toEqual([])
    const { token_id } = devices[0]!
    expect(await outcome(his.post(`${SETTINGS}revoke_device`, { token_id }))).toEqual([404, 'not_found'])
    const info = async () => (await request(server.url, ...requestOf(syncStatus.actions.info, {}, { token }))).status
    expect(await info()).toBe(200)
    expect(await outcome(hers.post(`${SETTINGS}revoke_device`, { token_id }))).toBe(200)
    expect(await info()).toBe(401)
    expect(await outcome(hers.post(`${SETTINGS}revoke_device`, { token_id }))).toEqual([404, 'not_found'])
  })
})
