import { describe, expect, test } from 'vitest'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { search } from '../../src/contract/search.ts'
import { session, sessionLogin, sessionLogin2fa, sessionLogout } from '../../src/contract/session.ts'
import { setup } from '../../src/contract/setup.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import type { Tables } from '../../src/storage/engine/tables.ts'
import { newUser, openBrowser, PASSWORD, signedIn } from '../support/browser.ts'
import { prepare, waysOf } from '../support/examples.ts'
import { explores } from '../support/explores.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'

const server = await serverOfFile()
await server.local.domain.accounts.create({ username: 'ada', password: PASSWORD })
const until = Date.UTC(2026, 10, 21, 12, 30)
const readOnly = { message: 'Moving disks.', until, read_only: true }

/** What somebody who may only read may still send with POST: signing in and out, many downloads at once, and a search. */
const harmless = new Set<AnyAction>([
  syncAuth.actions.login,
  syncAuth.actions.login_2fa,
  syncAuth.actions.validate,
  syncAuth.actions.logout,
  sessionLogin.actions.login,
  sessionLogin2fa.actions.login_2fa,
  sessionLogout.actions.logout,
  setup.actions.setup,
  syncFiles.actions.download_batch,
  search.actions.find,
])
const changes = (action: AnyAction) => action.method === 'POST' && !harmless.has(action)

const called = (which: (action: AnyAction) => boolean) =>
  actions
    .filter(which)
    .flatMap((action) =>
      (explores ? waysOf(action) : waysOf(action).slice(-1)).map(
        (way) => [`${action.method} ${action.path}?action=${action.name}`, way, action] as const,
      ),
    )

/** What users would miss, or find changed. */
const DATA = [
  'nodes',
  'versions',
  'trash',
  'rooms',
  'messages',
  'reactions',
  'components',
  'apps',
  'changes',
  'counters',
] as const
async function data(): Promise<string> {
  const tables = await Promise.all(
    DATA.map((table: keyof Tables) => server.database.read.q.selectFrom(table).selectAll().execute()),
  )
  return JSON.stringify(tables)
}

describe('while the service is read-only', () => {
  test.each(called(changes))('%s with %s is refused to a user and changes nothing', async (_, way, action) => {
    await server.set('#maintenance', undefined)
    const { client, params, more } = await prepare(server, action, way, 'user')
    await server.set('#maintenance', readOnly)
    const before = await data()
    const refused = await client.call(action, params, more)
    expect([refused.status, refused.json, refused.headers.get('retry-after')]).toEqual([
      503,
      {
        ok: false,
        success: false,
        error: 'Moving disks.',
        code: 'maintenance',
        message: 'Moving disks.',
        until: '2026-11-21T12:30:00.000Z',
        read_only: true,
      },
      '1800',
    ])
    expect(await data()).toBe(before)
  })

  test.each(called((action) => !changes(action)))('%s with %s answers and changes nothing', async (_, way, action) => {
    await server.set('#maintenance', undefined)
    const { client, params, more } = await prepare(server, action, way)
    await server.set('#maintenance', readOnly)
    const before = await data()
    const reply = await client.call(action, params, more)
    expect([reply.status, reply.status < 300 ? '' : reply.bytes.toString()]).toEqual([action.status ?? 200, ''])
    expect(await data()).toBe(before)
  })

  test.each(called(changes))('%s with %s answers an administrator as ever', async (_, way, action) => {
    await server.set('#maintenance', readOnly)
    const { client, params, more } = await prepare(server, action, way, 'admin')
    expect((await client.call(action, params, more)).status).toBe(action.status ?? 200)
  })
})

test('sessions go on and others can begin, until the service is closed', async () => {
  const one = await serverOfTest()
  const { maintenance } = one.local.domain.instance
  const ada = await newUser(one)
  const browser = await signedIn(one, ada.username)
  expect(await maintenance.begin({ message: '', until: null, read_only: true })).toEqual({ sessions: 0 })
  expect((await browser.get(session.actions.session.path)).status).toBe(200)
  const other = await signedIn(one, ada.username)
  expect(await maintenance.begin({ message: '', until: null })).toMatchObject({
    sessions: 2,
    before: { read_only: true },
  })
  for (const each of [browser, other]) expect((await each.get(session.actions.session.path)).status).toBe(401)
})

test('another message or end while closed signs no administrator out', async () => {
  const one = await serverOfTest()
  const { maintenance } = one.local.domain.instance
  await maintenance.begin({ message: '', until: null })
  const admin = await signedIn(one, (await newUser(one, 'admin')).username)
  const later = one.clock.now() + 60_000
  expect(await maintenance.begin({ message: 'Longer.', until: later })).toMatchObject({ sessions: 0 })
  expect(await maintenance.begin({ message: 'Read on.', until: later, read_only: true })).toMatchObject({ sessions: 0 })
  expect((await admin.get(session.actions.session.path)).status).toBe(200)
  expect(await one.local.domain.instance.settings.maintenance()).toEqual({
    message: 'Read on.',
    until: later,
    read_only: true,
  })
  one.clock.pass(60_000)
  // What was over by itself begins anew.
  expect(await maintenance.begin({ message: '', until: null })).toEqual({ sessions: 1, before: undefined })
  expect((await openBrowser(one).login((await newUser(one)).username)).status).toBe(503)
})

test('a device learns the state from the server, and one that waits for news comes back to them', async () => {
  const one = await serverOfTest()
  const { maintenance } = one.local.domain.instance
  const ada = await one.account()
  const another = await ada.another()
  const { info } = syncStatus.actions
  const { cursor } = await ada.delta(0)
  const waiting = ada.call(syncData.actions.delta, { cursor, wait: 55 })
  await maintenance.begin({ message: '', until: null, read_only: true })
  expect(await ada.ask(info, {})).toMatchObject({ maintenance_mode: false, read_only: true })
  await maintenance.end()
  expect(await ada.ask(info, {})).toMatchObject({ maintenance_mode: false, read_only: false })
  await another.put('/a.txt', 'a')
  expect((await waiting).status).toBe(200)
  await maintenance.begin({ message: '', until: null })
  const refused = await ada.call(syncData.actions.delta, { cursor, wait: 55 })
  expect([refused.status, refused.json['code'], refused.json['read_only']]).toEqual([503, 'maintenance', undefined])
  await maintenance.end()
  expect((await ada.delta(cursor)).changes).toHaveLength(1)
})
