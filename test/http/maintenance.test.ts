import { expect, test } from 'vitest'
import { MINUTE } from '../../src/base/clock.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { newUser, openBrowser, signedIn } from '../support/browser.ts'
import { serverOfTest } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const { manifest } = syncFiles.actions
const { info } = syncStatus.actions

test('maintenance with an end keeps users out until then, and is over by itself', async () => {
  const server = await serverOfTest()
  const ada = await server.account()
  const until = server.clock.now() + 30 * MINUTE
  await server.local.domain.instance.maintenance.begin({ message: 'Back after tea.', until })
  const refused = await ada.call(manifest)
  expect([refused.status, refused.json['message'], refused.json['until'], refused.headers.get('retry-after')]).toEqual([
    503,
    'Back after tea.',
    new Date(until).toISOString(),
    '1800',
  ])
  expect((await ada.ask(info, {})).maintenance_mode).toBe(true)
  server.clock.pass(30 * MINUTE - 1)
  expect((await ada.call(manifest)).status).toBe(503)
  server.clock.pass(1)
  expect((await ada.call(manifest)).status).toBe(200)
  expect((await ada.ask(info, {})).maintenance_mode).toBe(false)
  const bob = await newUser(server)
  expect((await openBrowser(server).login(bob.username)).status).toBe(200)
})

test('maintenance ends when somebody says so, for devices at once', async () => {
  const server = await serverOfTest()
  const { maintenance } = server.local.domain.instance
  const ada = await server.account()
  await maintenance.begin({ message: '', until: null })
  expect((await ada.call(manifest)).status).toBe(503)
  await maintenance.end()
  expect((await ada.call(manifest)).status).toBe(200)
  const before = await commitsSeenBy(server.database)
  await maintenance.end()
  expect(await commitsSeenBy(server.database)).toEqual(before)
})

test.each([
  ['an end in the past', { message: '', until: 1 }],
  ['an end that is now', { message: '', until: 'now' }],
  ['no date', { message: '', until: NaN }],
  ['a date beyond all dates', { message: '', until: 8.65e15 }],
  ['a message of two lines', { message: 'a\nb', until: null }],
  ['a message without end', { message: 'x'.repeat(501), until: null }],
  ['half a character', { message: '\ud800', until: null }],
])('maintenance with %s does not begin and ends no session', async (_, given) => {
  const server = await serverOfTest()
  const browser = await signedIn(server, (await newUser(server)).username)
  const until = given.until === 'now' ? server.clock.now() : (given.until as number | null)
  await expect(server.local.domain.instance.maintenance.begin({ ...given, until })).rejects.toMatchObject({
    code: 'bad_request',
  })
  expect((await browser.get('/api/session.php')).status).toBe(200)
})
