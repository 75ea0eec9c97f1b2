import { expect, test } from 'vitest'
import { MINUTE } from '../../src/base/clock.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { clientWith } from '../support/account.ts'
import { codeOf, newUser, openBrowser, PASSWORD, secondFactor } from '../support/browser.ts'
import { serverOfFile } from '../support/server.ts'

const server = await serverOfFile()

const LOGIN_2FA = '/login-2fa.php'
const { login, login_2fa, validate } = syncAuth.actions

/** Somebody with a second factor, and the two ways in. */
async function somebody() {
  const ada = await newUser(server)
  const { secret } = await secondFactor(server, ada.id)
  const { twoFactor } = server.local.domain.accounts
  const anybody = clientWith(server.url)
  return {
    ada,
    secret,
    bypass: async (ttl = 10 * MINUTE) => (await twoFactor.bypass(ada.id, ttl)).code,
    /** Signs in as a device. */
    async device(code: string) {
      const names = { device_id: 'laptop-0001', device_name: 'Laptop' }
      const begun = await anybody.ask(login, { username: ada.username, password: PASSWORD, ...names })
      return anybody.call(login_2fa, { pending_token: begun.pending_token!, code })
    },
    /** Signs in as a browser, with the code in either field. */
    async browser(body: { totp_code: string } | { backup_code: string }) {
      const browser = openBrowser(server)
      await browser.login(ada.username)
      return { browser, reply: await browser.post(LOGIN_2FA, body) }
    },
  }
}

test('a bypass code signs a device in once', async () => {
  const { ada, secret, bypass, device } = await somebody()
  const code = await bypass()
  const done = await device(code)
  expect([done.status, done.json]).toEqual([
    200,
    {
      ok: true,
      token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      user: { id: ada.id, username: ada.username, display_name: ada.username },
    },
  ])
  const client = clientWith(server.url, { token: done.json['token'] as string })
  expect((await client.ask(validate, {})).user.id).toBe(ada.id)
  const again = await device(code)
  expect([again.status, again.json['code']]).toEqual([401, 'invalid_code'])
  // The second factor is on as before.
  expect((await device(codeOf(server, secret))).status).toBe(200)
})

test.each(['totp_code', 'backup_code'] as const)('a bypass code signs a browser in once, as %s', async (field) => {
  const { ada, bypass, browser } = await somebody()
  const code = await bypass()
  const first = await browser({ [field]: `${code.slice(0, 5)}-${code.slice(5)}` } as { totp_code: string })
  expect([first.reply.status, first.reply.json['user']]).toMatchObject([200, { id: ada.id }])
  expect((await first.browser.get('/api/session.php')).status).toBe(200)
  const second = await browser({ [field]: code } as { totp_code: string })
  expect([second.reply.status, second.reply.json['code']]).toEqual([401, 'invalid_code'])
  expect((await second.browser.get('/api/session.php')).status).toBe(401)
})

test('a bypass code that was used in one way is used up for the other, also at the same moment', async () => {
  const { bypass, browser, device } = await somebody()
  const code = await bypass()
  const both = await Promise.all([device(code), browser({ totp_code: code }).then(({ reply }) => reply)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
})

test('a bypass code is no good for a settings page, nor after its time', async () => {
  const { secret, bypass, browser, device } = await somebody()
  const signedIn = await browser({ totp_code: codeOf(server, secret) })
  const code = await bypass(MINUTE)
  for (const action of ['disable_2fa', 'regenerate_backup_codes']) {
    const reply = await signedIn.browser.post(`/api/settings.php?action=${action}`, { totp_code: code })
    expect([action, reply.status, reply.json['code']]).toEqual([action, 401, 'invalid_code'])
  }
  server.clock.pass(MINUTE)
  const late = await device(code)
  expect([late.status, late.json['code']]).toEqual([401, 'invalid_code'])
})
