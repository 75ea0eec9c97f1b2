import { expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { codeOf, newUser, openBrowser, PASSWORD, secondFactor, signedIn } from '../support/browser.ts'
import { serverOfTest, type TestServer } from '../support/server.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'

const SETTINGS = '/api/settings.php?action='

/** What was written since the log was last asked, oldest first. */
function reader({ local }: TestServer) {
  const { audit } = local.domain.instance
  let last = 0
  return async () => {
    const entries = (await audit.list({ limit: 1_000 })).filter(({ id }) => id > last).reverse()
    last = Math.max(last, ...entries.map(({ id }) => id))
    return entries.map(({ kind, actor, target }) => [kind, actor, target])
  }
}

test('logins, sessions and second factors leave entries that say who, where and with what', async () => {
  const server = await serverOfTest()
  const news = reader(server)
  const { id, username } = await newUser(server)
  expect(await news()).toEqual([['user.created', 'system', username]])

  const browser = openBrowser(server)
  await browser.post('/api/login.php', { username, password: PASSWORD }, { 'user-agent': 'x'.repeat(300) })
  const [entry] = await server.local.domain.instance.audit.list({ kinds: ['login.ok'], user: username, limit: 1 })
  expect(entry).toMatchObject({
    at: server.clock.now(),
    actor_id: id,
    actor: username,
    ip: '127.0.0.1',
    user_agent: 'x'.repeat(200),
    detail: '{"kind":"session"}',
  })
  expect(await news()).toEqual([['login.ok', username, null]])

  const { secret } = (await browser.post(`${SETTINGS}setup_2fa`)).json as { secret: string }
  const { backup_codes } = (await browser.post(`${SETTINGS}enable_2fa`, { totp_code: codeOf(server, secret) }))
    .json as { backup_codes: string[] }
  await openBrowser(server).login(username)
  const other = openBrowser(server)
  await other.login(username)
  await other.post('/login-2fa.php', { totp_code: codeOf(server, secret, 3_000) })
  await other.post('/login-2fa.php', { backup_code: backup_codes[0] })
  await other.post('/api/logout.php')
  server.clock.pass(30_000)
  await browser.post(`${SETTINGS}regenerate_backup_codes`, { totp_code: codeOf(server, secret) })
  server.clock.pass(30_000)
  await browser.post(`${SETTINGS}disable_2fa`, { totp_code: codeOf(server, secret) })
  expect(await news()).toEqual([
    ['2fa.enabled', username, username],
    ['2fa.failed', 'anonymous', username],
    ['2fa.backup_code_used', username, username],
    ['login.ok', username, null],
    ['session.ended', username, username],
    ['2fa.codes_regenerated', username, username],
    ['2fa.disabled', username, username],
  ])

  const everything = JSON.stringify(await server.local.domain.instance.audit.list({ limit: 1_000 }))
  for (const hidden of [PASSWORD, secret, ...backup_codes, browser.cookie!, browser.csrf!])
    expect(everything).not.toContain(hidden)
})

test('failures are told of the account they were for, and never by what was typed', async () => {
  const server = await serverOfTest()
  const { username } = await newUser(server)
  const news = reader(server)
  await news()
  for (let time = 0; time < 5; time += 1) await openBrowser(server).login(username, 'wrong password')
  await openBrowser(server).login(username)
  await openBrowser(server).login('my secret passphrase', 'x')
  const failed = ['login.failed', 'anonymous', username]
  expect(await news()).toEqual([
    ...Array.from({ length: 5 }, () => failed),
    ['login.locked', 'anonymous', username],
    ['login.failed', 'anonymous', null],
  ])
  const everything = JSON.stringify(await server.local.domain.instance.audit.list({ limit: 1_000 }))
  expect(everything).not.toMatch(/secret passphrase|wrong password/)
})

test('a wrong second factor that locks the step is told', async () => {
  const server = await serverOfTest()
  const ada = await newUser(server)
  const { secret } = await secondFactor(server, ada.id)
  const browser = openBrowser(server)
  await browser.login(ada.username)
  const wrong = codeOf(server, secret, 3_000)
  for (let time = 0; time < 6; time += 1) await browser.post('/login-2fa.php', { totp_code: wrong })
  const kinds = (await server.local.domain.instance.audit.list({ limit: 6 })).map(({ kind }) => kind)
  expect(kinds).toEqual(['2fa.locked', ...Array.from({ length: 5 }, () => '2fa.failed')])
})

test('commands act under the user of the system who runs them', async () => {
  const server = await serverOfTest()
  const command = await openLocal({ dataDir: server.dataDir, env: server.env, clock: server.clock })
  const news = reader(server)
  try {
    const { accounts, instance } = command.domain
    const { id, username } = await accounts.create({ username: 'ada', password: PASSWORD })
    await accounts.update(id, { role: 'admin' })
    await accounts.setPassword(id, 'difference engine')
    await accounts.disable(id)
    await accounts.enable(id)
    await accounts.unlock(id)
    await instance.maintenance.begin({ message: 'Tea.', until: null })
    await instance.maintenance.end()
    await instance.maintenance.end()
    await accounts.remove(id)
    const actor = `cli:${process.getuid?.()}`
    const kinds = ['user.created', 'user.changed', 'user.password', 'user.disabled', 'user.enabled', 'user.unlocked']
    expect(await news()).toEqual([
      ...kinds.map((kind) => [kind, actor, username]),
      ['maintenance.on', actor, null],
      ['maintenance.off', actor, null],
      ['user.removed', actor, username],
    ])
  } finally {
    await command.close()
  }
})

test('what is refused leaves no entry of having been done', async () => {
  const server = await serverOfTest()
  const ada = await newUser(server)
  const browser = await signedIn(server, ada.username)
  const news = reader(server)
  await news()
  await browser.post(`${SETTINGS}revoke_session`, { session_id: 999 })
  await browser.post(`${SETTINGS}revoke_device`, { token_id: 999 })
  await browser.post(`${SETTINGS}profile`, { avatar_color: 'red' })
  await browser.post(`${SETTINGS}disable_2fa`, { totp_code: '123456' })
  await server.local.domain.accounts.remove(999).catch(() => undefined)
  expect(await news()).toEqual([])
})

test('tokens and the first administrator are told of', async () => {
  const server = await serverOfTest({ administered: false })
  const news = reader(server)
  const { token } = (await server.local.domain.accounts.setup.offer())!
  await openBrowser(server).post('/api/setup.php', { token, username: 'root', password: PASSWORD })
  const device = { device_id: 'laptop-0001', device_name: 'Laptop' }
  const login = await openBrowser(server).post('/api/sync/auth.php?action=login', {
    username: 'root',
    password: PASSWORD,
    ...device,
  })
  const browser = await signedIn(server, 'root')
  await browser.post(`${SETTINGS}revoke_device`, { token_id: 1 })
  expect(await news()).toEqual([
    ['user.created', 'anonymous', 'root'],
    ['setup.done', 'root', 'root'],
    ['login.ok', 'root', null],
    ['token.issued', 'root', 'root'],
    ['login.ok', 'root', null],
    ['token.revoked', 'root', 'root'],
  ])
  const everything = JSON.stringify(await server.local.domain.instance.audit.list({ limit: 1_000 }))
  expect(everything).not.toContain(token)
  expect(everything).not.toContain(login.json['token'])
})

test('entries are kept for a year', async () => {
  const server = await serverOfTest()
  const { audit, upkeep } = server.local.domain.instance
  await newUser(server)
  server.clock.pass(365 * DAY)
  await upkeep()
  expect(await audit.list({ limit: 10 })).toHaveLength(1)
  server.clock.pass(1)
  await upkeep()
  expect(await audit.list({ limit: 10 })).toEqual([])
})
