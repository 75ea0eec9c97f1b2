import { rm } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { generateSync } from 'otplib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DAY, MINUTE } from '../../src/base/clock.ts'
import { makeApp } from '../../src/http/app.ts'
import { hostStatusOf } from '../../src/wiring/doctor/machine-report.ts'
import { openLocal, type Local } from '../../src/wiring/local-domain.ts'
import { temporaryFolder } from '../support/folder.ts'

const PASSWORD = 'analytical engine'
const START = Date.UTC(2026, 10, 21, 12, 0, 15)

async function makeServer() {
  const folder = await temporaryFolder()
  let now = START
  const clock = { now: () => now, pass: (ms: number) => void (now += ms) }
  const local: Local = await openLocal({ dataDir: folder, env: {}, clock })
  const app: FastifyInstance = await makeApp({
    domain: local.domain,
    clock,
    logger: false,
    trustedProxies: [],
    metrics: 'off',
    desktopFolder: '',
    machine: { ...hostStatusOf(local), startBackupJob: () => Promise.reject(new Error('There are no jobs.')) },
  })
  onTestFinished(async () => {
    await app.close()
    await local.close()
    await rm(folder, { recursive: true })
  })
  const { accounts } = local.domain
  await accounts.create({ username: 'root', password: PASSWORD, role: 'admin' })
  const ada = await accounts.create({ username: 'ada', password: PASSWORD, display_name: 'Ada Lovelace' })

  const call = async (action: string, body?: object, token?: string) => {
    const answer = await app.inject({
      method: action === 'devices' ? 'GET' : 'POST',
      url: `/api/sync/auth.php?action=${action}`,
      ...(body && { payload: body }),
      ...(token && { headers: { authorization: `Bearer ${token}` } }),
    })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<Record<string, unknown>>() }
  }
  const login = (more: object = {}) =>
    call('login', { username: 'ada', password: PASSWORD, device_name: 'Laptop', device_id: 'laptop-0001', ...more })
  const token = async (more: object = {}) => (await login(more)).body['token'] as string
  return { clock, accounts, ada, call, login, token }
}

const user = (id: number) => ({ id, username: 'ada', display_name: 'Ada Lovelace' })

describe('login', () => {
  test('answers a token and the user, without the role', async () => {
    const { ada, login } = await makeServer()
    const { status, body } = await login()
    expect(status).toBe(200)
    expect(body).toEqual({ ok: true, token: expect.stringMatching(/^[0-9a-f]{64}$/) as string, user: user(ada.id) })
  })

  test('answers somebody unknown and a wrong password with the same bytes', async () => {
    const { login } = await makeServer()
    const answers = [await login({ username: 'nobody' }), await login({ password: 'wrong password' })]
    expect(answers[0]).toMatchObject({ status: 401, body: { ok: false, success: false, code: 'invalid_credentials' } })
    expect(JSON.stringify(answers[1]!.body)).toBe(JSON.stringify(answers[0]!.body))
    const names = ({ headers }: (typeof answers)[number]) => Object.keys(headers).sort()
    expect(names(answers[1]!)).toEqual(names(answers[0]!))
  })

  test('is refused with Retry-After after five failures, and again possible when that is over', async () => {
    const { clock, login } = await makeServer()
    for (let time = 0; time < 5; time += 1) expect((await login({ password: 'wrong password' })).status).toBe(401)
    const locked = await login()
    expect(locked).toMatchObject({ status: 429, headers: { 'retry-after': '900' }, body: { code: 'account_locked' } })
    clock.pass(15 * MINUTE)
    expect((await login()).status).toBe(200)
  })

  test.each([
    ['no user name', { username: undefined }],
    ['a number for a password', { password: 12_345_678 }],
    ['a device id of seven characters', { device_id: '1234567' }],
    ['no device name', { device_name: '' }],
    ['a password of 1025 bytes', { password: 'ä'.repeat(513) }],
  ])('with %s is a bad request', async (_, more) => {
    const { login } = await makeServer()
    expect(await login(more)).toMatchObject({ status: 400, body: { code: 'bad_request' } })
  })
})

test('a login with a second factor is completed with its pending token and a code', async () => {
  const { accounts, ada, clock, call, login } = await makeServer()
  const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
  const code = () => generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
  await accounts.twoFactor.enable(ada.id, code())
  const { body } = await login()
  expect(body).toEqual({
    ok: true,
    requires_2fa: true,
    pending_token: expect.stringMatching(/^p_[0-9a-f]{64}$/) as string,
  })
  const pending_token = body['pending_token'] as string
  expect((await call('validate', {}, pending_token)).status).toBe(401)
  expect((await call('validate', {}, pending_token.slice(2))).status).toBe(401)
  expect(await call('login_2fa', { pending_token, code: '000000' })).toMatchObject({
    status: 401,
    body: { code: 'invalid_code' },
  })
  const done = await call('login_2fa', { pending_token, code: code() })
  expect(done.body).toEqual({ ok: true, token: expect.stringMatching(/^[0-9a-f]{64}$/) as string, user: user(ada.id) })
  expect((await call('validate', {}, done.body['token'] as string)).status).toBe(200)
  expect(await call('login_2fa', { pending_token, code: code() })).toMatchObject({
    status: 401,
    body: { code: 'invalid_code' },
  })
})

test('what failed while the clock was ahead locks nobody out once it is right, and no code works twice', async () => {
  const { accounts, ada, clock, call, login } = await makeServer()
  const wrong = { password: 'wrong password' }
  const failAhead = async (times: number) => {
    clock.pass(3 * DAY)
    for (let time = 0; time < times; time += 1) expect((await login(wrong)).status).toBe(401)
    clock.pass(-3 * DAY)
  }
  await failAhead(5)
  expect(await accounts.details('ada')).toMatchObject({ locked: false, locked_until: null })
  expect((await login()).status).toBe(200)
  await failAhead(4)
  expect((await login(wrong)).status).toBe(401)
  expect((await login()).status).toBe(200)

  const { secret } = await accounts.twoFactor.setUp(ada.id, 'svc')
  const code = () => generateSync({ secret, epoch: Math.floor(clock.now() / 1_000) })
  await accounts.twoFactor.enable(ada.id, code())
  const complete = async (typed: string) => {
    const { pending_token } = (await login()).body
    return (await call('login_2fa', { pending_token, code: typed })).status
  }
  const used = code()
  expect(await complete(used)).toBe(200)
  for (const times of [1, 3]) {
    clock.pass(3 * DAY)
    for (let time = 0; time < times; time += 1) expect(await complete('000000')).toBe(401)
    if (times === 3) expect(await complete(code())).toBe(429)
    clock.pass(-3 * DAY)
    expect(await complete(used)).toBe(401)
  }
  expect(await accounts.details('ada')).toMatchObject({ locked: false, codes_locked_until: null })
  expect(await accounts.twoFactor.status(ada.id)).toMatchObject({ locked_until: null })
  clock.pass(MINUTE)
  expect(await complete(code())).toBe(200)
})

test('validate says whose the token is and when it ends', async () => {
  const { ada, call, token } = await makeServer()
  const { status, body } = await call('validate', {}, await token())
  expect(status).toBe(200)
  expect(body).toEqual({
    ok: true,
    user: user(ada.id),
    device: { token_id: 1, device_id: 'laptop-0001', device_name: 'Laptop' },
    expires_at: '2027-11-21T12:00:15.000Z',
  })
})

test('devices lists those of the caller and marks the calling one', async () => {
  const { call, token } = await makeServer()
  await token({ username: 'root' })
  await token({ device_id: 'phone-0001', device_name: 'Phone' })
  const { body } = await call('devices', undefined, await token())
  const at = '2026-11-21T12:00:15.000Z'
  const device = { created_at: at, last_used_at: at, last_ip: '127.0.0.1' }
  expect(body).toEqual({
    ok: true,
    devices: [
      { token_id: 3, device_id: 'laptop-0001', device_name: 'Laptop', ...device, current: true },
      { token_id: 2, device_id: 'phone-0001', device_name: 'Phone', ...device, current: false },
    ],
  })
})

test('revoke ends a token of the caller, and knows no other', async () => {
  const { call, token } = await makeServer()
  const foreign = await token({ username: 'root' })
  const phone = await token({ device_id: 'phone-0001' })
  const laptop = await token()
  expect(await call('revoke', { token_id: 1 }, laptop)).toMatchObject({
    status: 404,
    body: { error: 'Nicht gefunden' },
  })
  expect((await call('validate', {}, foreign)).status).toBe(200)
  expect((await call('revoke', { token_id: 2 }, laptop)).body).toEqual({ ok: true, revoked: true })
  expect(await call('validate', {}, phone)).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
  expect((await call('validate', {}, laptop)).status).toBe(200)
})

test('logout ends the calling token', async () => {
  const { call, token } = await makeServer()
  const [laptop, phone] = [await token(), await token({ device_id: 'phone-0001' })]
  expect(await call('logout', {}, laptop)).toMatchObject({ status: 200, body: { ok: true } })
  expect((await call('logout', {}, laptop)).status).toBe(401)
  expect((await call('validate', {}, phone)).status).toBe(200)
})
