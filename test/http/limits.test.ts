import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MINUTE, SECOND } from '../../src/base/clock.ts'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { ADDRESS_FAILURES, limits, type LimitName } from '../../src/contract/limits.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { clientWith, type Account } from '../support/account.ts'
import { newUser, signedIn } from '../support/browser.ts'
import { startCommand } from '../support/command.ts'
import { explores } from '../support/explores.ts'
import type { Reply } from '../support/request.ts'
import { folderOfTest, serverOfTest, serverOfFile, type TestServer } from '../support/server.ts'

const server = await serverOfFile({ limits: true })

const limited = actions.flatMap((action) =>
  action.limit === 'none' ? [] : [[`${action.path} ${action.name}`, limits[action.limit], action] as const],
)
/** What a device may call; browser sessions have the same limits, a user's together. */
const forDevices = limited.filter(([, , { auth }]) => auth !== 'anyone' && auth.device)
/** One action of each limit stands for all where nobody explores. */
const tried = explores
  ? forDevices
  : forDevices.filter(([, , { limit }], at) => forDevices.findIndex(([, , other]) => other.limit === limit) === at)

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
  expect(new Set(limited.map(([, , { limit }]) => limit))).toEqual(
    new Set(Object.keys(limits).filter((name) => name !== 'cost')),
  )
})

describe.each(tried)('%s', (_, max, action) => {
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

  test('of an account is four times that of a device, however many devices and sessions it has', async () => {
    const account = await server.account()
    const devices = [account, ...(await Promise.all([1, 2, 3].map(() => account.another())))]
    for (const device of devices) for (let count = 0; count < limits.sync_manifest; count += 1) await device.manifest()
    const fifth = await (await account.another()).call(manifest)
    expect(told(fifth)).toMatchObject({ status: 429, limit: String(4 * limits.sync_manifest), remaining: '0' })
    expect((await (await server.account()).call(manifest)).status).toBe(200)
    server.clock.pass(MINUTE)
    // What the account refused counted for no device.
    expect(told(await account.call(manifest))).toMatchObject({
      status: 200,
      remaining: String(limits.sync_manifest - 1),
    })
  })

  test('of all that is heavy counts for the account, each request with its cost', async () => {
    const { initial_sync, delta } = syncData.actions
    await server.set('limits.cost', 60)
    onTestFinished(() => server.set('limits.cost', undefined))
    const account = await server.account()
    const other = await account.another()
    await account.ask(initial_sync, {})
    await other.ask(initial_sync, {})
    server.clock.pass(10 * SECOND)
    expect(told(await account.call(manifest))).toMatchObject({ status: 200, limit: '6', remaining: '1' })
    expect(told(await other.call(manifest))).toMatchObject({ status: 200, limit: '6', remaining: '0' })
    const refused = { status: 429, limit: '6', remaining: '0', retryAfter: '50' }
    for (const device of [account, other]) expect(told(await device.call(manifest))).toMatchObject(refused)
    expect(told(await account.call(initial_sync))).toMatchObject({ status: 429, limit: '3', retryAfter: '50' })
    // What is light costs nothing, and others have an allowance of their own.
    expect((await account.call(delta, { cursor: 0 })).status).toBe(200)
    expect((await (await server.account()).call(manifest)).status).toBe(200)
    server.clock.pass(50 * SECOND)
    for (const action of [initial_sync, initial_sync, manifest, manifest])
      expect((await account.call(action)).status).toBe(action === manifest ? 429 : 200)
  })

  test('lets a browser open every app several times, and devices whatever their own limits let them', async () => {
    const person = await newUser(server)
    const browser = await signedIn(server, person.username)
    for (let app = 0; app < 40; app += 1) {
      const { status } = await browser.get('/api/rows.php?action=list&tables=svc_notes')
      expect(status).toBe(200)
    }
    const account = await server.account()
    for (const device of [account, await account.another(), await account.another()]) {
      for (let count = 0; count < limits.sync_manifest; count += 1) await device.manifest()
      for (let count = 0; count < limits.sync_initial_sync; count += 1) await device.everything()
    }
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

describe('failed logins that come through a proxy nobody named', () => {
  const { login } = syncAuth.actions
  const PASSWORD = 'analytical engine'

  /** Fails so often, each time for another name, and says what the last one was answered. */
  async function failing(on: TestServer, forwarded: string | undefined, times: number): Promise<number> {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    let status = 0
    for (let count = 0; count < times; count += 1) {
      const attempt = { ...login.example, username: `nobody-${count}`, password: 'wrong' }
      status = (await clientWith(on.url, { headers }).call(login, attempt)).status
    }
    return status
  }
  const right = (on: TestServer, forwarded?: string) =>
    clientWith(on.url, { headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }).call(login, {
      ...login.example,
      username: 'ada',
      password: PASSWORD,
    })

  test('keep out nobody else, while those for one name lock that name', async () => {
    const own = await serverOfTest({ limits: true })
    await own.local.domain.accounts.create({ username: 'ada', password: PASSWORD })
    expect(await failing(own, '198.51.100.7', ADDRESS_FAILURES.max + 1)).toBe(401)
    expect((await right(own, '192.0.2.1')).status).toBe(200)
    // Five for one name lock it as ever.
    for (let count = 0; count < 5; count += 1)
      await clientWith(own.url, { headers: { 'x-forwarded-for': '198.51.100.7' } }).call(login, {
        ...login.example,
        username: 'ada',
        password: 'wrong password',
      })
    expect((await right(own, '192.0.2.1')).json['code']).toBe('account_locked')
  })

  test('count for one name when it is a password that confirms, too', async () => {
    const own = await serverOfTest({ limits: true })
    const { accounts } = own.local.domain
    await accounts.create({ username: 'ada', password: PASSWORD })
    const from = { ip: '127.0.0.1', userAgent: '', isShared: true }
    const change = { current_password: 'wrong', new_password: 'difference engine 1833' }
    const refused = { code: 'invalid_credentials' }
    for (let count = 0; count < ADDRESS_FAILURES.max / 4; count += 1) {
      const { id, username } = await accounts.create({ username: `bob-${count}`, password: PASSWORD })
      for (let time = 0; time < 2; time += 1) {
        await expect(accounts.confirmPassword({ username }, 'wrong', from)).rejects.toMatchObject(refused)
        await expect(
          accounts.changePassword({ id, username, display_name: username }, change, from),
        ).rejects.toMatchObject(refused)
      }
    }
    expect((await right(own, '192.0.2.1')).status).toBe(200)
  })

  test('keep out their own address alone where the proxy is named, and that of the connection without one', async () => {
    const own = await serverOfTest({ limits: true, flags: { trusted_proxies: '127.0.0.1' } })
    await own.local.domain.accounts.create({ username: 'ada', password: PASSWORD })
    expect(await failing(own, '198.51.100.7', ADDRESS_FAILURES.max + 1)).toBe(429)
    expect((await right(own, '198.51.100.7')).status).toBe(429)
    expect((await right(own, '192.0.2.1')).status).toBe(200)
    expect(await failing(own, undefined, ADDRESS_FAILURES.max + 1)).toBe(429)
    expect((await right(own)).status).toBe(429)
  })
})

test('a proxy that nobody named is told once in the log, with what to do', async () => {
  const folder = await folderOfTest()
  const child = startCommand(folder, 'serve', '--port', '0', '--ready-file', join(folder, 'ready'))
  onTestFinished(async () => {
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  })
  let stdout = ''
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  await expect.poll(() => /ready at (\S+)/.exec(stdout)?.[1], { timeout: 60_000 }).toBeDefined()
  const url = /ready at (\S+)/.exec(stdout)![1]!
  const ask = (forwarded: string) => fetch(`${url}/healthz`, { headers: { 'x-forwarded-for': forwarded } })
  for (const address of ['192.0.2.1', '192.0.2.2']) expect((await ask(address)).status).toBe(200)
  await expect.poll(() => stderr.split('"path":"/healthz"').length, { timeout: 60_000 }).toBe(3)
  expect(stderr.match(/svc config set trusted_proxies 127\.0\.0\.1/g)).toHaveLength(1)
})
