import { describe, expect, test } from 'vitest'
import { MINUTE, SECOND } from '../../src/base/clock.ts'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { limits, type LimitName } from '../../src/contract/limits.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import type { Account } from '../support/account.ts'
import type { Reply } from '../support/request.ts'
import { serverOfTest, serverOfFile } from '../support/server.ts'

const server = await serverOfFile({ limits: true })

const limited = actions.flatMap((action) =>
  action.limit === 'none' ? [] : [[`${action.path} ${action.name}`, limits[action.limit], action] as const],
)
/** What a device may call; browser sessions have the same limits, a user's together. */
const forDevices = limited.filter(([, , { auth }]) => auth !== 'anyone' && auth.device)

const told = ({ status, headers }: Reply) => ({
  status,
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
  retryAfter: headers.get('retry-after'),
})

/** Calls an action in a way that needs nothing to be there; whether it is refused for that does not matter to the limit. */
const use = ({ call }: Account, action: AnyAction) =>
  call(
    action,
    action.name === 'mkdir' ? { path: '/same' } : action.example,
    action.sends === 'bytes' ? { body: 'x' } : {},
  )

test('the numbers are those of the specification', () => {
  expect(limits).toMatchObject({
    sync_initial_sync: 5,
    sync_delta: 30,
    sync_push: 30,
    sync_manifest: 10,
    sync_download: 120,
    sync_upload: 60,
    sync_delete: 60,
    sync_mkdir: 30,
    sync_move: 30,
  })
  expect(new Set(limited.map(([, , { limit }]) => limit))).toEqual(new Set(Object.keys(limits)))
})

describe.each(forDevices)('%s', (_, max, action) => {
  test(`passes ${max} times in any minute and not once more`, async () => {
    const account = await server.account()
    const { clock } = server
    const first = await use(account, action)
    expect(told(first)).toEqual({
      status: first.status,
      limit: String(max),
      remaining: String(max - 1),
      reset: '60',
      retryAfter: null,
    })
    expect(first.status).not.toBe(429)

    clock.pass(10 * SECOND)
    const others = await Promise.all(Array.from({ length: max - 1 }, () => use(account, action)))
    expect(others.filter(({ status }) => status === 429)).toEqual([])
    const remaining = others.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).sort((a, b) => a - b)
    expect(remaining).toEqual(Array.from({ length: max - 1 }, (_each, index) => index))

    const refused = await use(account, action)
    expect(told(refused)).toEqual({ status: 429, limit: String(max), remaining: '0', reset: '50', retryAfter: '50' })
    expect(refused.json).toEqual({
      ok: false,
      success: false,
      code: 'rate_limited',
      error: expect.stringContaining('50') as string,
    })

    // What was refused does not count, and the last millisecond of the window does.
    clock.pass(50 * SECOND - 1)
    expect(told(await use(account, action))).toMatchObject({ status: 429, retryAfter: '1' })
    clock.pass(1)
    expect((await use(account, action)).status).not.toBe(429)
    expect(told(await use(account, action))).toMatchObject({ status: 429, retryAfter: '10' })
    clock.pass(10 * SECOND)
    expect((await use(account, action)).status).not.toBe(429)
  })
})

describe('a limit', () => {
  const { mkdir, move, upload, manifest } = syncFiles.actions

  async function exhausted(): Promise<Account> {
    const account = await server.account()
    for (let count = 0; count < limits.sync_manifest; count += 1) await account.manifest()
    expect((await account.call(manifest)).status).toBe(429)
    return account
  }

  test('of one action is none of its neighbours’', async () => {
    const account = await exhausted()
    const neighbour = await account.call(syncData.actions.initial_sync)
    expect(told(neighbour)).toMatchObject({ status: 200, limit: '5', remaining: '4' })
  })

  test('counts each device for itself, and each user', async () => {
    const account = await exhausted()
    expect((await (await account.another()).call(manifest)).status).toBe(200)
    expect((await (await server.account()).call(manifest)).status).toBe(200)
    expect((await account.call(manifest)).status).toBe(429)
  })

  test('counts requests that are refused for another reason', async () => {
    const account = await server.account()
    for (let count = 0; count < limits.sync_mkdir; count += 1) expect((await account.call(mkdir, {})).status).toBe(400)
    expect((await account.call(mkdir, { path: '/a' })).status).toBe(429)
    for (let count = 0; count < limits.sync_move; count += 1)
      expect((await account.call(move, { from: '/a', to: '/b' })).status).toBe(404)
    expect((await account.call(move, { from: '/a', to: '/b' })).status).toBe(429)
  })

  test('keeps what is refused from happening', async () => {
    const account = await server.account()
    for (let count = 0; count < limits.sync_upload; count += 1) await account.put('/a.txt', 'same')
    const refused = await account.call(upload, { path: '/b.txt' }, { body: 'b' })
    expect(refused.status).toBe(429)
    expect((await account.manifest()).files.map(({ path }) => path)).toEqual(['/a.txt'])
  })

  test('counts a POST that names its action in the body', async () => {
    const account = await server.account()
    const inBody = () =>
      server.send(mkdir.path, {
        method: 'POST',
        token: account.token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'mkdir', path: '/same' }),
      })
    for (let count = 0; count < limits.sync_mkdir; count += 1) expect((await inBody()).status).toBe(200)
    expect(told(await inBody())).toMatchObject({ status: 429, limit: '30' })
    expect((await account.call(mkdir, { path: '/same' })).status).toBe(429)
  })

  test('does not count strangers', async () => {
    const account = await server.account()
    for (let count = 0; count < 12; count += 1) {
      const stranger = await server.send(manifest.path, { query: { action: 'manifest' }, token: '0'.repeat(64) })
      expect(told(stranger)).toEqual({ status: 401, limit: null, remaining: null, reset: null, retryAfter: null })
    }
    expect((await account.call(manifest)).status).toBe(200)
  })

  test('is none where the contract says none', async () => {
    const account = await server.account()
    const reply = await account.call(syncStatus.actions.info)
    expect(told(reply)).toEqual({ status: 200, limit: null, remaining: null, reset: null, retryAfter: null })
  })
})

describe('a limit that is set', () => {
  const { manifest } = syncFiles.actions

  test('holds from the next request on and is published', async () => {
    const own = await serverOfTest({ limits: true })
    const account = await own.account()
    await own.set('limits.sync_manifest', 3)
    const published = (await account.ask(syncStatus.actions.capabilities, {})).limits
    expect(published).toEqual({
      ...Object.fromEntries(Object.entries(limits).map(([name, max]) => [name, { max, per: 60 }])),
      sync_manifest: { max: 3, per: 60 },
    })
    for (let count = 0; count < 3; count += 1)
      expect(told(await account.call(manifest))).toMatchObject({ status: 200, limit: '3' })
    expect((await account.call(manifest)).status).toBe(429)

    await own.set('limits.sync_manifest', 5)
    expect(told(await account.call(manifest))).toMatchObject({ status: 200, limit: '5', remaining: '1' })

    // Lowered again, four have passed and one may: room comes with the end of the fourth.
    await own.set('limits.sync_manifest', 1)
    own.clock.pass(MINUTE - 1)
    expect((await account.call(manifest)).status).toBe(429)
    own.clock.pass(1)
    expect((await account.call(manifest)).status).toBe(200)
    expect((await account.call(manifest)).status).toBe(429)
  })

  test('can be switched off with all others, and nothing is said of it any more', async () => {
    const own = await serverOfTest({ limits: true })
    const account = await own.account()
    await own.set('limits.enabled', false)
    expect((await account.ask(syncStatus.actions.capabilities, {})).limits).toEqual({})
    for (let count = 0; count < limits.sync_manifest + 1; count += 1) {
      expect(told(await account.call(manifest))).toEqual({
        status: 200,
        limit: null,
        remaining: null,
        reset: null,
        retryAfter: null,
      })
    }
  })

  test.each(Object.keys(limits) as LimitName[])('is an option by its name: limits.%s', async (name) => {
    const listed = await server.local.domain.instance.settings.list()
    expect(listed.find((option) => option.name === `limits.${name}`)).toMatchObject({
      value: limits[name],
      source: 'default',
    })
  })
})
