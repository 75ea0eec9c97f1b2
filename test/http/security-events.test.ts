import { expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { newUser, openBrowser, PASSWORD, secondFactor, signedIn } from '../support/browser.ts'
import { serverOfFile } from '../support/server.ts'

const SETTINGS = '/api/settings.php?action='
const server = await serverOfFile()

interface Event {
  id: number
  at: string
  kind: string
  by: string
  ip: string | null
  user_agent: string | null
  device_name?: string
}

async function eventsSeenBy(browser: Awaited<ReturnType<typeof signedIn>>): Promise<Event[]> {
  const { status, json } = await browser.get(`${SETTINGS}security_events`)
  expect(status).toBe(200)
  return json['events'] as Event[]
}

test('users are told what changed who can get into their account, by whom and from where', async () => {
  const user = await newUser(server)
  const browser = await signedIn(server, user.username)
  expect(await eventsSeenBy(browser)).toEqual([])

  const login = { username: user.username, password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop' }
  await openBrowser(server).post('/api/sync/auth.php?action=login', login, { 'user-agent': 'svc' })
  await secondFactor(server, user.id)
  await server.local.domain.accounts.twoFactor.reset(user.id)
  const fresh = 'difference engine no. 2'
  const changing = await signedIn(server, user.username)
  await changing.post(`${SETTINGS}change_password`, {
    current_password: PASSWORD,
    new_password: fresh,
    end_others: true,
  })

  const events = await eventsSeenBy(await signedIn(server, user.username, fresh))
  expect(events.map(({ kind, by, device_name }) => [kind, by, device_name])).toEqual([
    ['user.password', 'self', undefined],
    ['2fa.reset', 'administrator', undefined],
    ['2fa.enabled', 'administrator', undefined],
    ['token.issued', 'self', 'Laptop'],
  ])
  expect(events[3]).toMatchObject({ ip: '127.0.0.1', user_agent: 'svc' })
  expect(Date.parse(events[0]!.at)).toBe(server.clock.now())
})

test('a lock after wrong passwords was caused by a stranger', async () => {
  const user = await newUser(server)
  const browser = await signedIn(server, user.username)
  const stranger = openBrowser(server)
  for (let attempt = 0; attempt < 20; attempt++) await stranger.login(user.username, 'a wrong guess')
  expect((await eventsSeenBy(browser))[0]).toMatchObject({ kind: 'login.locked', by: 'stranger', ip: '127.0.0.1' })
})

test('a change by an administrator of an earlier version who is named anonymous is not that of a stranger', async () => {
  const admin = await newUser(server, 'admin')
  const user = await newUser(server)
  await server.database.write('instance', async ({ q }) => {
    await q.updateTable('users').set({ username: 'anonymous' }).where('id', '=', admin.id).execute()
  })
  const { accounts } = server.local.domain
  await accounts.setPassword(user.id, PASSWORD, { actor: { by: admin.id, ip: '192.0.2.1', userAgent: 'x' } })
  const browser = await signedIn(server, user.username)
  expect(await eventsSeenBy(browser)).toMatchObject([{ kind: 'user.password', by: 'administrator' }])
})

test('events of others, of a former owner of the name, and of more than 90 days ago are not shown', async () => {
  const admin = await newUser(server, 'admin')
  const user = await newUser(server)
  const acting = { by: admin.id, ip: '192.0.2.1', userAgent: 'x' }
  await server.local.domain.accounts.revokeAllDevices(user.id, acting)
  const login = { username: user.username, password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop' }
  await openBrowser(server).post('/api/sync/auth.php?action=login', login)
  expect(await eventsSeenBy(await signedIn(server, admin.username))).toEqual([])
  expect(await eventsSeenBy(await signedIn(server, user.username))).toHaveLength(1)

  await server.local.domain.accounts.remove(user.id)
  server.clock.pass(1_000)
  await server.local.domain.accounts.create({ username: user.username, password: PASSWORD })
  expect(await eventsSeenBy(await signedIn(server, user.username))).toEqual([])

  await openBrowser(server).post('/api/sync/auth.php?action=login', login)
  server.clock.pass(91 * DAY)
  expect(await eventsSeenBy(await signedIn(server, user.username))).toEqual([])
})

test('a device token cannot read them', async () => {
  const { token } = await server.account()
  const { status } = await server.send(`${SETTINGS}security_events`, { token })
  expect(status).toBe(401)
})
