import { describe, expect, onTestFinished, test } from 'vitest'
import { actions } from '../../src/contract/contract.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { requestOf } from '../support/request.ts'
import { serverOfFile, serverOfTest } from '../support/server.ts'

const server = await serverOfFile()
const json = { 'content-type': 'application/json' }
const post = (path: string, body: string, more: object = {}) =>
  server.send(path, { method: 'POST', headers: json, body, ...more })

describe('a JSON body', () => {
  const ofAnyone = actions.filter(({ auth, method }) => auth === 'anyone' && method === 'POST')
  const addresses = ofAnyone.flatMap((action) => [action.path, `${action.path}?action=${action.name}`])

  test.each([...new Set(addresses)])('from anyone is small, flat and short: %s', async (address) => {
    const nested = `{"username":${'['.repeat(8_000)}${']'.repeat(8_000)}}`
    const wide = `{"username":[${'1,'.repeat(8_000)}1]}`
    const replies = [
      await post(address, `{"username":"${'x'.repeat(16_384)}"}`),
      await post(address, `{"username":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
      await post(address, nested),
      await post(address, wide),
    ]
    expect(replies.map(({ status, json: { code } }) => [status, code])).toEqual([
      [413, 'too_large'],
      [413, 'too_large'],
      [400, 'bad_request'],
      [400, 'bad_request'],
    ])
    expect(replies[2]!.json['error']).toBe('The body is nested deeper than 32 levels.')
    expect(replies[3]!.json['error']).toBe('The body has more than 200 values.')
  })

  test('from an account has no more values than its action needs, whatever they are made of', async () => {
    const { token } = await server.account()
    const push = (operations: string) =>
      post('/api/sync/data.php?action=push', `{"operations":${operations}}`, { token })
    const wide = [`[${'[],'.repeat(2_000_000)}1]`, `[${'{},'.repeat(2_000_000)}1]`, `[${'1,'.repeat(3_000_000)}1]`]
    for (const operations of wide) {
      const reply = await push(operations)
      expect([reply.status, reply.json['error']]).toEqual([400, 'The body has more than 50000 values.'])
    }
    const text = JSON.stringify({ title: '"[{,\\'.repeat(80), content: '[[{{,,\\"'.repeat(100_000) })
    const many = `[${Array.from({ length: 6 }, () => `{"table":"svc_notes","operation":"INSERT","data":${text}}`).join()}]`
    const { status, json: answer } = await push(many)
    expect([status, (answer['results'] as { ok: boolean }[]).map(({ ok }) => ok)]).toEqual([200, Array(6).fill(true)])
  })

  test('that is large stays with its sender while the account has four others under way', async () => {
    const [ada, bob] = [await server.account(), await server.account()]
    const body = JSON.stringify({
      operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'x', content: 'x'.repeat(300_000) } }],
    })
    const push = async ({ token }: { token: string }) => {
      const raw = await openRaw(server.url)
      onTestFinished(() => raw.hangUp())
      const headers = { ...json, authorization: `Bearer ${token}`, 'content-length': body.length, connection: 'close' }
      raw.write(rawHead('POST', '/api/sync/data.php?action=push', headers))
      return raw
    }
    const under = await Promise.all(Array.from({ length: 4 }, () => push(ada)))
    for (const raw of under) raw.write(body.slice(0, 1_000))
    // Each of them is read when the next request of its connection could be.
    await server.send('/healthz')
    const next = await push(ada)
    next.write(body)
    let isAnswered = false
    const answer = next.answer().finally(() => (isAnswered = true))
    const others = await push(bob)
    others.write(body)
    expect(readRaw(await others.answer()).status).toBe(200)
    await ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'small' } })
    expect(isAnswered).toBe(false)
    under[0]!.hangUp()
    expect(readRaw(await answer).status).toBe(200)
    // Who hangs up before the answer keeps nothing either.
    const gone = await push(ada)
    gone.write(body)
    gone.hangUp()
    for (const raw of under.slice(1)) raw.write(body.slice(1_000))
    for (const raw of under.slice(1)) expect(readRaw(await raw.answer()).status).toBe(200)
  })

  test('that is large is parsed when the large one before it is answered, and those of others are not delayed', async () => {
    const [ada, bob] = [await server.account(), await server.account()]
    const push = ({ token }: { token: string }, body: string) =>
      post('/api/sync/data.php?action=push', body, { headers: { ...json, authorization: `Bearer ${token}` } })
    const data = { title: 'x', content: 'x'.repeat(300_000) }
    const operations = JSON.stringify({ operations: [{ table: 'svc_notes', operation: 'INSERT', data }] })
    const broken = operations.slice(0, -1)
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    onTestFinished(() => release())
    const held = server.database.write('instance', () => released)
    const first = push(ada, operations)
    await server.send('/healthz')
    const answered: string[] = []
    const second = push(ada, broken).finally(() => answered.push('own'))
    expect((await push(bob, broken)).status).toBe(400)
    expect(answered).toEqual([])
    release()
    expect([(await first).status, (await second).status, await held]).toEqual([200, 400, undefined])
  })

  test('without a name in the address is refused to strangers before it is read, where no action is for them', async () => {
    const raw = await openRaw(server.url)
    onTestFinished(() => raw.hangUp())
    raw.write(rawHead('POST', '/api/desktop-components.php', { ...json, 'content-length': 1_000_000 }))
    expect(readRaw(await raw.until('"code"'))).toMatchObject({ status: 401 })
  })
})

test('requests that anyone may send count by their address, refused ones too, before they are read', async () => {
  const counting = await serverOfTest({ limits: true })
  await counting.set('limits.anonymous', 3)
  const sent = [
    ['/api/login.php', '{'],
    ['/api/sync/auth.php', '[]'],
    ['/api/sync/auth.php?action=login', '{"username":"ada"}'],
    ['/api/login.php', '{'],
    ['/login-2fa.php', '{'],
  ] as const
  const statuses = []
  for (const [path, body] of sent) {
    const reply = await counting.send(path, { method: 'POST', headers: json, body })
    statuses.push(reply.status)
  }
  expect(statuses).toEqual([400, 400, 400, 429, 429])
})

test('a request that names its action in the body counts once for its address', async () => {
  const counting = await serverOfTest({ limits: true })
  await counting.set('limits.anonymous', 3)
  const body = '{"action":"login","username":"ada"}'
  const statuses = []
  for (let count = 0; count < 4; count += 1)
    statuses.push((await counting.send('/api/sync/auth.php', { method: 'POST', headers: json, body })).status)
  expect(statuses).toEqual([400, 400, 400, 429])
})

describe('without an action the method comes first', () => {
  test.each([
    ['PUT', '/api/desktop-components.php', 'GET, POST'],
    ['DELETE', '/api/desktop-components.php', 'GET, POST'],
    ['PATCH', '/api/sync/files.php', 'GET, HEAD, POST'],
    ['PUT', '/api/sync/auth.php', 'POST, GET'],
  ])('%s %s', async (method, path, allow) => {
    const { status, headers, json: answer } = await server.send(path, { method })
    expect([status, answer['code']]).toEqual([405, 'method_not_allowed'])
    expect(headers.get('allow')!.split(', ').sort()).toEqual(allow.split(', ').sort())
  })
})

describe('with Expect: 100-continue', () => {
  const expecting = { expect: '100-continue', 'content-length': 200_000 }
  const upload = '/api/sync/files.php?action=upload&path=/a'

  /** What a server says to the head of a request alone. */
  async function toHead(method: string, target: string, headers: Record<string, string | number>): Promise<string> {
    const raw = await openRaw(server.url)
    onTestFinished(() => raw.hangUp())
    raw.write(rawHead(method, target, { ...expecting, ...headers }))
    return raw.until('"code"')
  }

  test('what is refused by its headers is never asked for its body', async () => {
    const poor = await server.account({ quota: 100_000 })
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const refused = [
      [401, await toHead('POST', upload, {})],
      [401, await toHead('POST', upload, bearer('0'.repeat(64)))],
      [413, await toHead('POST', upload, bearer(poor.token))],
      [405, await toHead('PUT', upload, bearer(poor.token))],
      [400, await toHead('POST', '/api/sync/files.php?action=upload', bearer(poor.token))],
      [413, await toHead('POST', '/api/login.php', json)],
      [413, await toHead('POST', '/api/sync/auth.php', json)],
      [415, await toHead('POST', '/api/login.php', { 'content-type': 'text/plain' })],
      [
        413,
        await toHead('POST', '/api/sync/data.php?action=push', {
          ...json,
          ...bearer(poor.token),
          'content-length': 9e6,
        }),
      ],
    ] as const
    expect(refused.map(([, answer]) => readRaw(answer).status)).toEqual(refused.map(([status]) => status))
  })

  test('what may come is asked for, and stored', async () => {
    const { token } = await server.account()
    const authorization = `Bearer ${token}`
    const raw = await openRaw(server.url)
    raw.write(rawHead('POST', upload, { ...expecting, authorization, connection: 'close' }))
    expect(await raw.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    raw.write('x'.repeat(200_000))
    expect(await raw.answer()).toContain('HTTP/1.1 200 OK')

    const [target, { body }] = requestOf(
      actions.find(({ path, name }) => path === '/api/sync/data.php' && name === 'push')!,
      {
        operations: [],
      },
    )
    const push = await openRaw(server.url)
    const length = String(body).length
    push.write(
      rawHead('POST', `${target}?action=push`, {
        ...expecting,
        ...json,
        authorization,
        'content-length': length,
        connection: 'close',
      }),
    )
    expect(await push.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    push.write(String(body))
    expect(await push.answer()).toContain('HTTP/1.1 200 OK')
  })
})
