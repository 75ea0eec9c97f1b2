import { generateSync } from 'otplib'
import type { TObject } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actions, type AnyAction } from '../../src/contract/contract.ts'
import { JSON_BODY } from '../../src/contract/limits.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import type { Account } from '../support/account.ts'
import { request, requestOf, type Reply, type Sent } from '../support/request.ts'
import { departures } from '../support/schemas.ts'
import { serverOfTest, startServer, type TestServer } from '../support/server.ts'
import { commitsSeenBy } from '../support/state.ts'

const PASSWORD = 'analytical engine'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await server.local.domain.accounts.create({ username: 'ada', password: PASSWORD })
  return () => server.close()
})

/** An account with the rows and files that the documentation's examples speak of. */
async function prepared(on = server): Promise<Account> {
  const account = await on.account()
  await account.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea', content: 'Earl Grey' } })
  await account.put('/hello.txt', 'hello world\n')
  await account.put('/old.txt', 'old')
  return account
}

let graces = 0

/** Examples that name something made only when the test runs. */
const made: Record<string, (account: Account) => Promise<object>> = {
  revoke: async ({ another, ask }) => {
    await another()
    const { devices } = await ask(syncAuth.actions.devices, {})
    return { token_id: devices.find(({ current }) => !current)!.token_id }
  },
  async login_2fa() {
    const { accounts } = server.local.domain
    const username = `grace-${++graces}`
    const { id } = await accounts.create({ username, password: PASSWORD })
    const { secret } = await accounts.twoFactor.setUp(id, 'svc')
    const code = () => generateSync({ secret, epoch: Math.floor(server.clock.now() / 1_000) })
    await accounts.twoFactor.enable(id, code())
    const device = { device_id: 'laptop-0001', device_name: 'Laptop' }
    const { json } = await request(
      server.url,
      ...requestOf(syncAuth.actions.login, { username, password: PASSWORD, ...device }),
    )
    return { pending_token: json['pending_token'], code: code() }
  },
}

const exampleOf = async (action: AnyAction, account: Account): Promise<Record<string, unknown>> => ({
  ...action.example,
  ...(await made[action.name]?.(account)),
})

const body = (action: AnyAction) => (action.sends === 'bytes' ? { body: 'some content' } : {})
const paramsOf = ({ query = {} }: Sent): URLSearchParams =>
  new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))

const takesJson = (action: AnyAction) => action.method === 'POST' && action.sends !== 'bytes'
const nameOf = ({ method, path, name }: AnyAction) => `${method} ${path}?action=${name}`
const named = (which: (action: AnyAction) => boolean = () => true) =>
  actions.filter(which).map((action) => [nameOf(action), action] as const)

const failure = (code: string, more: object = {}): object => ({
  ok: false,
  success: false,
  error: expect.any(String) as string,
  code,
  ...more,
})

const properties = (action: AnyAction): Record<string, { type?: string; anyOf?: unknown }> =>
  (action.params as TObject).properties

describe('every action', () => {
  test.each(named())('%s does its example and answers what it declares, nothing else', async (_, action) => {
    const account = await prepared()
    const reply = await account.call(action, await exampleOf(action, account), body(action))
    expect([reply.status, reply.status === 200 ? '' : reply.bytes.toString()]).toEqual([200, ''])
    if (action.result && (action.result as { format?: string }).format === 'binary') {
      expect(reply.bytes.toString()).toBe('hello world\n')
      return
    }
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(reply.headers.get('cache-control')).toMatch(/no-store|private, no-cache/)
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect(departures(action.result, reply.json)).toEqual([])
  })

  test.each(named())('%s ignores what it does not know', async (_, action) => {
    const account = await prepared()
    const unknown = { zzz: 1, user_id: 1, ok: false, toString: 'x' }
    const params = action.name === 'login_2fa' ? action.example : await exampleOf(action, account)
    const [path, sent] = requestOf(action, { ...params, ...unknown }, { token: account.token, ...body(action) })
    const query = paramsOf(sent)
    // A key may come twice as long as nobody asks for it.
    query.append('zzz', '2')
    const reply = await server.send(path, { ...sent, query })
    expect([reply.status, reply.status === 500 ? reply.bytes.toString() : '']).toEqual([
      action.name === 'login_2fa' ? 401 : 200,
      '',
    ])
  })

  test.each(named())('%s answers 405 to other methods and says which one it takes', async (_, action) => {
    const { token } = await prepared()
    const before = await commitsSeenBy(server.database)
    const allowed = action.method === 'GET' && action.answers === 'bytes' ? ['GET', 'HEAD'] : [action.method]
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      if (allowed.includes(method)) continue
      const reply = await server.send(action.path, { method, query: { action: action.name, ...action.example }, token })
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, allowed.join(', ')])
      if (method !== 'HEAD')
        expect(reply.json).toEqual({ ...failure('method_not_allowed'), error: 'Method not allowed' })
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  test.each(named())('%s takes its name once', async (_, action) => {
    const { token } = await prepared()
    const [path, sent] = requestOf(action, action.example, { token, ...body(action) })
    const query = paramsOf(sent)
    query.append('action', 'ping')
    const reply = await server.send(path, { ...sent, query })
    expect([reply.status, reply.json]).toEqual([
      400,
      failure('bad_request', { details: [{ path: 'action', message: 'is given more than once' }] }),
    ])
  })
})

describe('an action that needs a device token', () => {
  const guarded = named(({ auth }) => auth !== 'anyone')
  const strangers = [
    ['no token', {}],
    ['an empty header', { authorization: '' }],
    ['no token behind the word', { authorization: 'Bearer ' }],
    ['a token nobody has', { authorization: `Bearer ${'0'.repeat(64)}` }],
    ['a token that is too short', { authorization: `Bearer ${'a'.repeat(63)}` }],
    ['a token that is too long', { authorization: `Bearer ${'a'.repeat(65)}` }],
    ['a pending token', { authorization: `Bearer p_${'a'.repeat(64)}` }],
    ['another scheme', { authorization: `Basic ${Buffer.from('ada:analytical engine').toString('base64')}` }],
    ['a cookie', { cookie: `PHPSESSID=${'a'.repeat(64)}` }],
  ] as const

  test.each(guarded)('%s refuses a stranger and changes nothing', async (_, action) => {
    const account = await prepared()
    const example = await exampleOf(action, account)
    const before = await commitsSeenBy(server.database)
    const spoilt = { authorization: `Bearer ${account.token.slice(0, -1)}` }
    for (const [what, headers] of [...strangers, ['a token cut short', spoilt] as const]) {
      const reply = await server.send(...requestOf(action, example, { headers, ...body(action) }))
      expect([what, reply.status, reply.json]).toEqual([what, 401, failure('unauthorized')])
      expect(reply.headers.get('www-authenticate')).toBe(action.path.startsWith('/api/sync/') ? 'Bearer' : null)
    }
    const inQuery = await server.send(action.path, {
      method: action.method,
      query: { action: action.name, ...example, token: account.token },
    })
    expect(inQuery.status).toBe(401)
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  test.each(guarded)('%s refuses the token of somebody who was disabled', async (_, action) => {
    const account = await prepared()
    const example = await exampleOf(action, account)
    await server.database.write((tx) =>
      tx.q.updateTable('users').set({ disabled_at: 1 }).where('id', '=', account.id).execute(),
    )
    const before = await commitsSeenBy(server.database)
    const reply = await account.call(action, example, body(action))
    expect([reply.status, reply.json]).toEqual([401, failure('unauthorized')])
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })
})

describe('the parameters', () => {
  const required = actions.flatMap((action) =>
    ((action.params as { required?: string[] }).required ?? []).map(
      (field) => [nameOf(action), field, action] as const,
    ),
  )

  test.each(required)('of %s are refused without %s, by name', async (_, field, action) => {
    const account = await prepared()
    const before = await commitsSeenBy(server.database)
    const { [field]: _left, ...rest } = action.example as Record<string, unknown>
    const reply = await account.call(action, rest, body(action))
    expect([reply.status, reply.json]).toEqual([
      400,
      failure('bad_request', { details: [{ path: field, message: 'is missing' }] }),
    ])
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  const wrongInBody: Record<string, unknown[]> = {
    string: [1, true, null, [], {}, ['x']],
    integer: ['1', 1.5, true, null, [], {}, -1, 2 ** 53],
    boolean: ['true', 0, 1, null, []],
    array: ['x', {}, null, 1, true],
  }
  const bodyFields = actions
    .filter(takesJson)
    .flatMap((action) =>
      Object.entries(properties(action)).map(([field, { type }]) => [nameOf(action), field, action, type!] as const),
    )

  test.each(bodyFields)('of %s are refused when %s has another type', async (_, field, action, type) => {
    const account = await prepared()
    const before = await commitsSeenBy(server.database)
    for (const wrong of wrongInBody[type]!) {
      const { status, json } = await account.call(action, { ...action.example, [field]: wrong })
      expect([wrong, status, json]).toEqual([
        wrong,
        400,
        failure('bad_request', {
          details: expect.arrayContaining([expect.objectContaining({ path: field })]) as unknown,
        }),
      ])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  const wrongInQuery: Record<string, string[]> = {
    string: [''],
    integer: ['', 'x', '1.5', '-1', '+1', '1e3', '0x10', ' 5', '5 ', '٥', '1'.repeat(16), 'null', 'true'],
    boolean: ['', 'yes', '2', 'TRUE', 'null'],
  }
  const queryFields = actions
    .filter((action) => !takesJson(action))
    .flatMap((action) =>
      Object.entries(properties(action)).map(([field, { type }]) => [nameOf(action), field, action, type!] as const),
    )
    // Any text is an epoch, also one that is not ours.
    .filter(([, field]) => field !== 'epoch')

  test.each(queryFields)('of %s are refused when %s is no such value', async (_, field, action, type) => {
    const account = await prepared()
    const before = await commitsSeenBy(server.database)
    for (const wrong of wrongInQuery[type]!) {
      const { status, json } = await account.call(action, { ...action.example, [field]: wrong }, body(action))
      expect([wrong, status, json]).toEqual([
        wrong,
        400,
        failure('bad_request', { details: [{ path: field, message: expect.any(String) as string }] }),
      ])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  })

  test.each(queryFields)('of %s are refused when %s is given twice', async (_, field, action) => {
    const account = await prepared()
    const value = String((action.example as Record<string, unknown>)[field] ?? 1)
    const query = new URLSearchParams({ action: action.name, ...(action.example as object), [field]: value })
    query.append(field, value)
    const { status, json } = await server.send(action.path, {
      method: action.method,
      query,
      token: account.token,
      ...body(action),
    })
    expect([status, json]).toEqual([
      400,
      failure('bad_request', { details: [{ path: field, message: 'is given more than once' }] }),
    ])
  })
})

describe('the body', () => {
  const jsonActions = named(takesJson)

  async function refusedAll(
    action: AnyAction,
    sent: { body: string; type?: string }[],
    status: number,
    code: string,
  ): Promise<void> {
    const { token } = await prepared()
    const before = await commitsSeenBy(server.database)
    for (const { body, type = 'application/json' } of sent) {
      const headers = type ? { 'content-type': type } : {}
      const reply = await server.send(action.path, {
        method: 'POST',
        query: { action: action.name },
        headers,
        token,
        body: Buffer.from(body),
      })
      const what = `${type} ${body.slice(0, 40)}`
      expect([what, reply.status, reply.json]).toEqual([what, status, expect.objectContaining(failure(code))])
    }
    expect(await commitsSeenBy(server.database)).toEqual(before)
  }

  test.each(jsonActions)('of %s is JSON, never what a web page may send without asking', (_, action) => {
    const body = JSON.stringify(action.example)
    const types = [
      'text/plain',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/html',
      '',
    ]
    return refusedAll(
      action,
      types.map((type) => ({ body, type })),
      415,
      'unsupported_media_type',
    )
  })

  test.each(jsonActions)('of %s is an object of bounded depth without tricks', (_, action) => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const lists = `{"a":${'['.repeat(32)}${']'.repeat(32)}}`
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const bodies = ['[]', '1', '"x"', 'null', 'true', '{', '{"a":1', '{"a":1}x', nested(33), lists, deep]
    const tricks = [
      '{"__proto__":{"admin":true}}',
      '{"a":{"__proto__":{}}}',
      '{"\\u005f_proto__":1}',
      '{"constructor":{"prototype":{}}}',
    ]
    return refusedAll(
      action,
      [...bodies, ...tricks].map((body) => ({ body })),
      400,
      'bad_request',
    )
  })

  test.each(jsonActions)('of %s may be as large as its limit and no larger', async (_, action) => {
    const { token } = await prepared()
    const limit = action.maxBody ?? JSON_BODY
    const before = await commitsSeenBy(server.database)
    const sized = async (bytes: number) => {
      const text = `{"zzz":"${'a'.repeat(bytes - 10)}"}`
      expect(text.length).toBe(bytes)
      const headers = { 'content-type': 'application/json' }
      return server.send(action.path, { method: 'POST', query: { action: action.name }, headers, token, body: text })
    }
    const over = await sized(limit + 1)
    expect([over.status, over.json]).toEqual([413, failure('too_large')])
    expect(await commitsSeenBy(server.database)).toEqual(before)
    expect((await sized(limit)).status).toBe((action.params as { required?: string[] }).required ? 400 : 200)
  })

  test('may be nested 32 levels deep', async () => {
    const account = await prepared()
    const zzz = JSON.parse(`${'{"a":'.repeat(31)}1${'}'.repeat(31)}`) as object
    expect((await account.call(syncFiles.actions.mkdir, { path: '/deep', zzz })).json).toMatchObject({ created: true })
  })

  test.each(jsonActions)('of %s may name the action, where the query does not', async (_, action) => {
    const account = await prepared()
    const params = await exampleOf(action, account)
    const [path, sent] = requestOf(action, { ...params, action: action.name }, { token: account.token })
    const reply = await server.send(path, { ...sent, query: {} })
    expect([reply.status, reply.status === 200 ? '' : reply.bytes.toString()]).toEqual([200, ''])
    expect(departures(action.result, reply.json)).toEqual([])
  })

  test.each(named((action) => takesJson(action) && action.auth !== 'anyone'))(
    'of %s that names the action refuses a stranger all the same',
    async (_, action) => {
      const before = await commitsSeenBy(server.database)
      const [path, sent] = requestOf(action, { ...action.example, action: action.name })
      const reply = await server.send(path, { ...sent, query: {} })
      expect([reply.status, reply.json, reply.headers.get('www-authenticate')]).toEqual([
        401,
        failure('unauthorized'),
        'Bearer',
      ])
      expect(await commitsSeenBy(server.database)).toEqual(before)
    },
  )

  test('names an action in vain when the query names another', async () => {
    const account = await prepared()
    const { status, json } = await account.call(syncFiles.actions.mkdir, { path: '/made', action: 'delete' })
    expect([status, json]).toEqual([200, { ok: true, path: '/made', created: true }])
    expect((await account.manifest()).directories).toEqual(['/made'])
  })

  test('cannot name an action that is a GET, takes bytes or does not exist', async () => {
    const { token } = await prepared()
    const ask = (path: string, action: unknown) =>
      server.send(path, {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ action, path: '/x' }),
      })
    const outcome = async (reply: Promise<Reply>) => {
      const { status, json, headers } = await reply
      return [status, json['code'], headers.get('allow')]
    }
    expect(await outcome(ask('/api/sync/files.php', 'manifest'))).toEqual([405, 'method_not_allowed', 'GET, HEAD'])
    expect(await outcome(ask('/api/sync/data.php', 'delta'))).toEqual([405, 'method_not_allowed', 'GET'])
    expect(await outcome(ask('/api/sync/files.php', 'upload'))).toEqual([400, 'unknown_action', null])
    for (const action of [
      'nonsense',
      '',
      5,
      null,
      ['push'],
      { toString: 'push' },
      '__proto__',
      'constructor',
      undefined,
    ]) {
      expect(await outcome(ask('/api/sync/data.php', action))).toEqual([400, 'unknown_action', null])
    }
  })
})

test.each([...new Set(actions.map(({ path }) => path))])('%s knows only its own actions', async (path) => {
  const { token } = await prepared()
  for (const action of ['nonsense', '', 'PING', 'ping ', '__proto__', 'constructor', 'toString', 'a'.repeat(5_000)]) {
    for (const method of ['GET', 'POST']) {
      const reply = await server.send(path, { method, query: { action }, token })
      expect([action, reply.status, reply.json]).toEqual([action, 400, failure('unknown_action')])
    }
  }
  const none = await server.send(path, { token })
  expect([none.status, none.json['code']]).toEqual([400, 'unknown_action'])
})

test('a path that is nobody’s is not found', async () => {
  for (const path of [
    '/',
    '/api',
    '/api/',
    '/api/sync/data',
    '/api/sync/data.php/',
    '/API/sync/data.php',
    '/../etc/passwd',
    '/%2e%2e/',
  ]) {
    const reply = await server.send(path, { query: { action: 'ping' } })
    expect([path, reply.status, reply.json]).toEqual([path, 404, { ...failure('not_found'), error: 'Nicht gefunden' }])
  }
})

describe('before there is an administrator', () => {
  let fresh: TestServer
  beforeAll(async () => {
    fresh = await startServer({ administered: false })
  })
  afterAll(() => fresh.close())

  test.each(named(({ openIn = [] }) => !openIn.includes('setup')))(
    '%s answers that the service must be set up',
    async (_, action) => {
      const reply = await fresh.send(...requestOf(action, action.example, body(action)))
      expect([reply.status, reply.json]).toEqual([503, failure('setup_required')])
    },
  )

  test('ping and health answer as ever', async () => {
    expect((await fresh.send(...requestOf(syncStatus.actions.ping, {}))).status).toBe(200)
    expect((await fresh.send('/healthz')).status).toBe(200)
    expect((await fresh.send('/readyz')).status).toBe(200)
  })

  test('a user who is none changes nothing, the first administrator opens the service', async () => {
    const one = await serverOfTest({ administered: false })
    const user = await one.account()
    expect((await user.call(syncStatus.actions.info)).json['code']).toBe('setup_required')
    const admin = await one.account({ role: 'admin' })
    expect((await admin.call(syncStatus.actions.info)).status).toBe(200)
    expect((await user.call(syncStatus.actions.info)).status).toBe(200)
  })
})

describe('under maintenance', () => {
  let closed: TestServer
  let user: Account
  let admin: Account
  const until = Date.UTC(2026, 10, 21, 12, 30)
  beforeAll(async () => {
    closed = await startServer()
    user = await prepared(closed)
    admin = await closed.account({ role: 'admin' })
    await admin.put('/hello.txt', 'hello world\n')
    await closed.set('#maintenance', { message: 'Back after tea.', until })
    return () => closed.close()
  })

  test.each(named(({ auth, openIn = [] }) => auth !== 'anyone' && !openIn.includes('maintenance')))(
    '%s answers a user until when and why not, and an administrator as ever',
    async (_, action) => {
      const example = { ...action.example, ...(action.name === 'revoke' ? { token_id: 999 } : {}) }
      const before = await commitsSeenBy(closed.database)
      const refused = await user.call(action, example, body(action))
      expect([refused.status, refused.json, refused.headers.get('retry-after')]).toEqual([
        503,
        {
          ...failure('maintenance'),
          error: 'Back after tea.',
          message: 'Back after tea.',
          until: '2026-11-21T12:30:00.000Z',
        },
        '1800',
      ])
      expect(await commitsSeenBy(closed.database)).toEqual(before)
      expect((await admin.call(action, example, body(action))).status).toBe(action.name === 'revoke' ? 404 : 200)
    },
  )

  test('a stranger learns nothing of it', async () => {
    const reply = await closed.send(...requestOf(syncFiles.actions.manifest, {}))
    expect([reply.status, reply.json['code']]).toEqual([401, 'unauthorized'])
  })

  test('a user may still ping, ask about the server, validate and log out', async () => {
    const { ping, info, capabilities } = syncStatus.actions
    for (const action of [ping, info, capabilities, syncAuth.actions.validate])
      expect((await user.call(action)).status).toBe(200)
    expect((await user.ask(info, {})).maintenance_mode).toBe(true)
    const leaving = await user.another()
    expect((await leaving.call(syncAuth.actions.logout)).status).toBe(200)
    expect((await leaving.call(info)).status).toBe(401)
  })

  test('an open end is said as null, with some time to wait', async () => {
    const open = await serverOfTest()
    const { call } = await open.account()
    await open.set('#maintenance', { message: '', until: null })
    const reply = await call(syncFiles.actions.manifest)
    expect([reply.status, reply.json]).toEqual([503, failure('maintenance', { message: '', until: null })])
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    await open.set('#maintenance', undefined)
    expect((await call(syncFiles.actions.manifest)).status).toBe(200)
  })

  test('once its end has passed the wait is one second, not less', async () => {
    const late = await serverOfTest()
    const { call } = await late.account()
    await late.set('#maintenance', { message: 'Tea.', until: late.clock.now() - 1 })
    expect((await call(syncFiles.actions.manifest)).headers.get('retry-after')).toBe('1')
  })
})
