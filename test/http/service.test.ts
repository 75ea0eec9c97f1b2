import { spawnSync } from 'node:child_process'
import { describe, expect, test, vi } from 'vitest'
import { actions, addressBelow } from '../../src/contract/contract.ts'
import { apps } from '../../src/contract/apps.ts'
import { assistant } from '../../src/contract/assistant.ts'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { MINUTE } from '../../src/base/clock.ts'
import { openRaw, rawHead, readRaw } from '../support/raw.ts'
import { serverOfTest, serverOfFile, type TestServer } from '../support/server.ts'

const server = await serverOfFile()

describe('health', () => {
  test('says that the process is up, and that it can work', async () => {
    expect((await server.send('/healthz')).json).toEqual({ ok: true, status: 'ok' })
    const checks = { 'disk-space': expect.any(String), clock: 'ok', migrations: 'ok', database: 'ok', storage: 'ok' }
    expect((await server.send('/readyz')).json).toEqual({ ok: true, status: 'ready', checks })
  })

  test('says when it cannot work, and which check says so, without saying why to everybody', async () => {
    const { instance } = server.local.domain
    const check = vi.spyOn(instance, 'checkDatabase').mockRejectedValueOnce(new Error('secret path'))
    server.clock.pass(2_000)
    const reply = await server.send('/readyz')
    expect(reply).toMatchObject({
      status: 503,
      json: { ok: false, status: 'not ready', checks: { database: 'failure' } },
    })
    expect(reply.bytes.toString()).not.toContain('secret')
    // However many ask, the checks run once a second.
    expect((await server.send('/readyz')).status).toBe(503)
    expect((await server.send('/metrics')).bytes.toString()).toMatch(/^svc_ready 0$/m)
    expect(check).toHaveBeenCalledOnce()
    check.mockRestore()
    server.clock.pass(2_000)
    expect((await server.send('/readyz')).status).toBe(200)
  })
})

describe('the metrics', () => {
  test('are for this machine, and count requests by route, action and status', async () => {
    const own = await serverOfTest()
    await own.send(syncStatus.actions.ping.path, { query: { action: 'ping' } })
    await own.send(syncFiles.actions.manifest.path, { query: { action: 'manifest', secret: 'hidden' } })
    await own.send('/nonsense/hidden')
    const { status, bytes, headers } = await own.send('/metrics')
    const text = bytes.toString()
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
    expect(text).toContain('svc_request_seconds_count{route="/api/sync/status.php",action="ping",status="200"} 1')
    expect(text).toContain('svc_request_seconds_count{route="/api/sync/files.php",action="manifest",status="401"} 1')
    expect(text).toContain('svc_process_cpu_seconds_total')
    expect(text).not.toContain('hidden')
  })

  test('are named as Prometheus wants: only counters end in _total, and promtool has nothing to say', async () => {
    const text = (await server.send('/metrics')).bytes.toString()
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    expect(types.length).toBeGreaterThan(10)
    expect(types.filter(([, name, type]) => name!.endsWith('_total') !== (type === 'counter'))).toEqual([])
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    })
    // It is on few machines.
    if (!error) expect([status, stdout, stderr]).toEqual([0, '', ''])
  })

  test('tell how the database, the disk and the backups are', async () => {
    const text = (await server.send('/metrics')).bytes.toString()
    const valueOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    expect([valueOf('svc_ready'), valueOf('svc_last_backup_timestamp_seconds')]).toEqual([1, 0])
    expect(valueOf('svc_disk_free_bytes')).toBeGreaterThan(0)
    expect(valueOf('svc_database_commits_total')).toBeGreaterThan(0)
    expect(valueOf('svc_database_commit_seconds_total')).toBeGreaterThan(0)
    expect(valueOf('svc_database_failures_total')).toBe(0)
  })

  test('are for nobody a proxy speaks for', async () => {
    for (const header of ['x-forwarded-for', 'forwarded']) {
      const reply = await server.send('/metrics', { headers: { [header]: '192.0.2.1' } })
      expect([reply.status, reply.json['code']]).toEqual([404, 'not_found'])
    }
  })

  test('can be switched off, and opened', async () => {
    const [off, on] = [
      await serverOfTest({ flags: { metrics: 'off' } }),
      await serverOfTest({ flags: { metrics: 'on' } }),
    ]
    expect((await off.send('/metrics')).status).toBe(404)
    expect((await on.send('/metrics', { headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(200)
  })
})

describe('the description of the interface', () => {
  test('names every action', async () => {
    const { json } = await server.send('/api/openapi.json')
    const described = Object.entries(json['paths'] as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const declared = actions.map(
      (action) => `${action.method} ${action.byDefault ? action.path : addressBelow(action)}`,
    )
    expect(described.sort()).toEqual(declared.sort())
    expect(json['servers']).toMatchObject([{ url: '/' }])
  })

  test('names the address under which users reach the service', async () => {
    const own = await serverOfTest({ flags: { public_url: 'https://desk.example' } })
    expect((await own.send('/api/openapi.json')).json['servers']).toMatchObject([{ url: 'https://desk.example' }])
  })

  test('is a page that runs nothing and loads nothing', async () => {
    const { headers, bytes } = await server.send('/api/docs')
    expect([headers.get('content-type'), headers.get('content-security-policy')]).toEqual([
      'text/html; charset=utf-8',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    ])
    expect(bytes.toString()).not.toMatch(/<script|src=|url\(/i)
  })
})

test('the description of the interface can be kept from strangers, and the version with it', async () => {
  const own = await serverOfTest({ flags: { 'api.public_docs': 'off' } })
  const account = await own.account()
  const { version } = own.local.domain.instance
  for (const path of ['/api/openapi.json', '/api/docs']) {
    for (const token of [undefined, '0'.repeat(64)]) {
      const { status, bytes } = await own.send(path, { token })
      expect([path, status, bytes.includes(version)]).toEqual([path, 404, false])
    }
    const known = await account.send(path)
    expect([path, known.status, known.bytes.includes(version)]).toEqual([path, 200, true])
  }
  for (const path of ['/healthz', '/readyz', '/', '/api/sync/status.php?action=ping']) {
    const { headers, bytes } = await own.send(path)
    expect([path, JSON.stringify([...headers]).includes(version), bytes.includes(`"${version}"`)]).toEqual([
      path,
      false,
      false,
    ])
  }
})

describe('a failure of the server itself', () => {
  test('says nothing but a number that finds it in the log', async () => {
    const account = await server.account()
    const list = vi
      .spyOn(server.local.domain.files.desktop, 'list')
      .mockRejectedValueOnce(new TypeError('secret: /var/lib/svc'))
    const reply = await account.call(filesystem.actions.list)
    list.mockRestore()
    expect([reply.status, reply.json]).toEqual([
      500,
      {
        ok: false,
        success: false,
        error: 'Interner Fehler',
        code: 'internal',
        request_id: expect.any(String) as string,
      },
    ])
    expect((await account.call(filesystem.actions.list)).status).toBe(200)
  })

  test.each([
    ['an error of another library with a status', Object.assign(new Error('secret'), { statusCode: 418, code: 'X' })],
    ['something thrown that is no error', 'secret'],
  ])('is told no other way: %s', async (_, thrown) => {
    const account = await server.account()
    const list = vi
      .spyOn(server.local.domain.files.desktop, 'list')
      .mockImplementationOnce(() => Promise.reject(thrown as Error))
    const reply = await account.call(filesystem.actions.list)
    list.mockRestore()
    expect(reply.status).toBe(500)
    expect(reply.bytes.toString()).not.toContain('secret')
    expect(reply.json).toMatchObject({ ok: false, success: false, code: 'internal', error: 'Interner Fehler' })
  })
})

describe("a request for a name that is not the service's", () => {
  /** What is answered under a name, as status and code. */
  async function under(on: TestServer, host: string, method = 'GET', path = '/healthz'): Promise<[number, unknown]> {
    const raw = await openRaw(on.url)
    const type = 'content-type: application/json\r\ncontent-length: 2'
    raw.write(`${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${type}\r\n\r\n{}`)
    const { status, body } = readRaw(await raw.answer())
    return [status, body.startsWith('{') ? (JSON.parse(body) as { code?: string }).code : undefined]
  }

  test('is refused whatever it asks for, also metrics, pages and logins', async () => {
    for (const [method, path] of [
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/metrics'],
      ['GET', '/'],
      ['GET', '/api/docs'],
      ['GET', '/api/openapi.json'],
      ['GET', '/apps/notes/'],
      ['GET', '/setup?token=x'],
      ['GET', '/nowhere'],
      ['GET', '/api/sync/status.php?action=ping'],
      ['POST', '/api/login.php'],
      ['POST', '/login-2fa.php'],
      ['POST', '/api/sync/auth.php?action=login'],
      ['POST', '/api/filesystem.php?action=upload'],
      ['OPTIONS', '/api/sync/data.php'],
    ] as const)
      expect([path, await under(server, 'rebound.example', method, path)]).toEqual([path, [421, 'misdirected_request']])
  })

  test.each([
    'rebound.example:8420',
    '127.0.0.1.nip.io',
    'localhost.example',
    'xlocalhost',
    '0x7f000001',
    '2130706433',
    '127.1',
    '[::1',
    'cloud.example@evil.example',
    '',
  ])('is told from an address: "%s"', async (host) => {
    expect(await under(server, host)).toEqual([421, 'misdirected_request'])
  })

  test.each([
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost:8420',
    'LocalHost',
    'localhost.',
    '192.168.1.20',
    '[::1]:8420',
    '[fe80::1]',
  ])('is none for the machine or a literal address: "%s"', async (host) => {
    expect(await under(server, host)).toEqual([200, undefined])
  })

  test('is none for the public URL, the name listened on and the names that were allowed', async () => {
    const own = await serverOfTest({
      flags: { public_url: 'https://Cloud.Example:8443', allowed_hosts: 'nas.local, svc', host: 'localhost' },
    })
    for (const host of ['cloud.example', 'CLOUD.example:8443', 'nas.local:80', 'svc'])
      expect([host, await under(own, host)]).toEqual([host, [200, undefined]])
    for (const host of ['www.cloud.example', 'nas.local.evil.example', 'x.svc'])
      expect([host, await under(own, host)]).toEqual([host, [421, 'misdirected_request']])
  })

  test.each(['http://rebound.example/healthz', 'HTTPS://rebound.example/', 'http://127.0.0.1@rebound.example/healthz'])(
    'is told in an absolute address: %s',
    async (address) => {
      expect(await under(server, '127.0.0.1', 'GET', address)).toEqual([421, 'misdirected_request'])
      expect(await under(server, '127.0.0.1', 'GET', 'http://localhost/healthz')).toEqual([200, undefined])
    },
  )

  test('is not made one by a header that a proxy may set', async () => {
    const own = await serverOfTest({ flags: { trusted_proxies: '127.0.0.1' } })
    const headers = { 'x-forwarded-host': 'rebound.example', forwarded: 'host=rebound.example' }
    expect((await own.send('/healthz', { headers })).status).toBe(200)
    const raw = await openRaw(own.url)
    raw.write(
      'GET /healthz HTTP/1.1\r\nhost: rebound.example\r\nx-forwarded-host: localhost\r\nconnection: close\r\n\r\n',
    )
    expect(readRaw(await raw.answer()).status).toBe(421)
  })
})

describe('the address of a client', () => {
  const seenBy = async (on: TestServer, forwarded: string): Promise<unknown> => {
    const account = await on.account()
    on.clock.pass(2 * MINUTE)
    await account.call(syncAuth.actions.validate, {}, { headers: { 'x-forwarded-for': forwarded } })
    // The use of a token is noted beside the request that used it.
    const lastIp = async () => (await account.ask(syncAuth.actions.devices, {})).devices[0]!.last_ip
    await expect.poll(lastIp).not.toBeNull()
    return lastIp()
  }

  test('is that of the connection, whatever a header claims', async () => {
    expect(await seenBy(server, '192.0.2.1')).toBe('127.0.0.1')
  })

  test('is the one a trusted proxy names, and not what the client told the proxy', async () => {
    const own = await serverOfTest({ flags: { trusted_proxies: '127.0.0.1, 10.0.0.0/8' } })
    expect(await seenBy(own, '198.51.100.9, 192.0.2.1, 10.1.2.3')).toBe('192.0.2.1')
  })

  test('is not believed from a proxy that is not trusted', async () => {
    const own = await serverOfTest({ flags: { trusted_proxies: '10.0.0.0/8' } })
    expect(await seenBy(own, '192.0.2.1')).toBe('127.0.0.1')
  })
})

describe('what is no HTTP', () => {
  test.each([
    ['nonsense', 'hello\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n: y\r\n\r\n'],
    ['a header with a line break', 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: a\x00b\r\n\r\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a length that is none', 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'],
    [
      'a transfer coding that is not undone',
      'POST /api/sync/auth.php?action=login HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: gzip, chunked\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'chunks that are none',
      'POST /api/sync/auth.php?action=login HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\nzz\r\n',
    ],
  ])('is refused, and the connection ends: %s', async (_, text) => {
    const raw = await openRaw(server.url)
    raw.write(text)
    const { status, body } = readRaw(await raw.answer())
    expect(status).toBe(400)
    if (body.startsWith('{')) expect(JSON.parse(body)).toMatchObject({ ok: false, success: false, code: 'bad_request' })
    expect((await server.send('/healthz')).status).toBe(200)
  })

  test('is answered as ever when it expects what nobody knows', async () => {
    const raw = await openRaw(server.url)
    raw.write(rawHead('GET', '/api/nothing', { expect: 'a miracle', connection: 'close' }))
    const answer = await raw.answer()
    const { status, body } = readRaw(answer)
    expect([status, JSON.parse(body)]).toEqual([404, expect.objectContaining({ ok: false, code: 'not_found' })])
    expect(answer.toLowerCase()).toContain('x-content-type-options: nosniff')
  })

  test('is refused when its headers are without end', async () => {
    const raw = await openRaw(server.url)
    raw.write(rawHead('GET', '/healthz', { 'x-long': 'x'.repeat(20_000) }))
    expect(readRaw(await raw.answer()).status).toBe(431)
  })
})

describe('an action’s name', () => {
  const { path } = syncStatus.actions.ping
  test.each([
    'action=ping',
    '%61ction=ping',
    'action=p%69ng',
    'x=1&action=ping',
    'action=ping&x=action=info',
    'xaction=info&action=ping',
  ])('is understood however it is spelt: %s', async (query) => {
    const { status, json } = await server.send(`${path}?${query}`)
    expect([status, json]).toMatchObject([200, { ok: true, status: 'ok' }])
  })

  test.each([
    'action=ping&action=ping',
    'action=ping&action=info',
    'action[]=ping',
    'action=%FF',
    'Action=ping',
    'actions=ping',
  ])('is not guessed: %s', async (query) => {
    const { status, json } = await server.send(`${path}?${query}`)
    expect([status, json]).toMatchObject([400, { ok: false }])
  })
})

test('a JSON body that is empty stands for no parameters', async () => {
  const account = await server.account()
  const empty = { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.alloc(0) }
  const validate = await account.send(syncAuth.actions.validate.path, { ...empty, query: { action: 'validate' } })
  expect([validate.status, validate.json['user']]).toEqual([200, expect.objectContaining({ id: account.id })])
  const revoke = await account.send(syncAuth.actions.revoke.path, { ...empty, query: { action: 'revoke' } })
  expect([revoke.status, revoke.json['details']]).toEqual([400, [{ path: 'token_id', message: 'is missing' }]])
})

test('each unsuitable parameter is named once, with every value or type that it may have', async () => {
  const account = await server.account()
  const body = { name: 1, slug: 'notes', category: 'nonsense', supports_context: 'true' }
  const reply = await account.call(apps.actions.create_custom, body)
  expect([reply.status, reply.json['details']]).toEqual([
    400,
    [
      { path: 'name', message: 'must be a string' },
      {
        path: 'category',
        message: 'must be productivity or communication or finance or utility or entertainment or ai or maps or custom',
      },
      { path: 'supports_context', message: 'must be true or false' },
    ],
  ])
  const moved = await account.call(assistant.actions.ask, { message: 'hello', conversation_id: 'x', model: 1 })
  expect(moved.json['details']).toEqual([
    { path: 'model', message: 'must be a string or null' },
    { path: 'conversation_id', message: 'must be a whole number or null' },
  ])
})

test('a preflight of a foreign page gets no permission', async () => {
  const headers = {
    origin: 'https://evil.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  }
  const reply = await server.send(syncFiles.actions.delete.path, {
    method: 'OPTIONS',
    query: { action: 'delete' },
    headers,
  })
  expect(reply.status).toBe(405)
  expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})
