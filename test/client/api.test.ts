import { once } from 'node:events'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished, describe, expect, test, vi } from 'vitest'
import { makeApi, type Api } from '../../src/client/api.ts'
import { makeNodeTransport } from '../../src/client/http/node-transport.ts'
import { Unreachable } from '../../src/client/errors.ts'
import { Fault } from '../../src/contract/errors.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { syncStatus } from '../../src/contract/sync-status.ts'
import { certificates, key } from '../support/certificates.ts'
import { bytesOf, tinyChunks } from '../support/contents.ts'
import { deadAddress, json, serve, serveRaw } from './loopback-server.ts'

const TOKEN = 'a'.repeat(64)
const { ping } = syncStatus.actions
const { validate } = syncAuth.actions
const { delta, push } = syncData.actions
const { upload, download, manifest } = syncFiles.actions

function open(url: string, token: string | undefined = TOKEN): Api {
  const api = makeApi({ url, token, transport: makeNodeTransport() })
  onTestFinished(() => api.close())
  return api
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => new Error(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  return outcome as Error
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('requests', () => {
  test('a GET puts its parameters into the query and leaves out what is not given', async () => {
    const server = await serve((_, response) => json(response, 200, { ok: true, changes: [] }))
    await open(server.url).call(delta, { cursor: 7, limit: 10 })
    const [request] = server.requests
    expect(request).toMatchObject({
      method: 'GET',
      path: '/api/sync/data.php?action=delta&cursor=7&limit=10',
      body: '',
    })
    expect(request?.headers.authorization).toBe(`Bearer ${TOKEN}`)
    expect(request?.headers['content-type']).toBeUndefined()
  })

  test('a POST sends JSON and names its action in the query', async () => {
    const server = await serve((_, response) =>
      json(response, 200, { ok: true, results: [], cursor: 1, contiguous: true }),
    )
    await open(`${server.url}/under/a/path`).call(push, { operations: [] })
    const [request] = server.requests
    expect(request).toMatchObject({
      method: 'POST',
      path: '/under/a/path/api/sync/data.php?action=push',
      body: '{"operations":[]}',
    })
    expect(request?.headers['content-type']).toBe('application/json')
    expect(request?.headers['content-length']).toBe('17')
  })

  test('without a token no Authorization is sent', async () => {
    const server = await serve((_, response) => json(response, 200, { ok: true, status: 'ok' }))
    const api = makeApi({ url: server.url, token: undefined, transport: makeNodeTransport() })
    onTestFinished(() => api.close())
    await api.call(ping, {})
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })

  test('bytes go up with their length, parameters beside them in the query', async () => {
    const server = await serve((_, response) => json(response, 200, { ok: true, path: '/a b.txt' }))
    const answer = await open(server.url).send(upload, { path: '/a b.txt', mtime: 5 }, pieces('hello ', 'world'), 11, {
      headers: { 'x-file-sha256': 'f'.repeat(64) },
    })
    expect(answer).toEqual({ ok: true, path: '/a b.txt' })
    const [request] = server.requests
    expect(new URL(request?.path ?? '', server.url).searchParams.get('path')).toBe('/a b.txt')
    expect(request).toMatchObject({ method: 'POST', body: 'hello world' })
    expect(request?.headers).toMatchObject({ 'content-length': '11', 'x-file-sha256': 'f'.repeat(64) })
  })

  test('an empty body is sent as one', async () => {
    const server = await serve((_, response) => json(response, 200, { ok: true, path: '/empty' }))
    await open(server.url).send(upload, { path: '/empty' }, pieces(), 0)
    expect(server.requests[0]?.headers['content-length']).toBe('0')
  })

  test('bytes that a server sends one by one come in few pieces', async () => {
    const content = bytesOf(200_000)
    const url = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.write(tinyChunks(content))
    })
    const pieces: Uint8Array[] = []
    for await (const piece of (await open(url).receive(download, { path: '/a' })).body) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(content)).toBe(true)
    expect(pieces.length).toBeLessThan(20_000)
  })

  test('bytes come down as they are, with lower-case headers', async () => {
    const content = 'x'.repeat(300_000)
    const server = await serve((_, response) =>
      response.writeHead(200, { 'X-File-SHA256': 'abc', 'content-length': 300_000 }).end(content),
    )
    const answer = await open(server.url).receive(download, { path: '/x' })
    expect(answer).toMatchObject({ status: 200, headers: { 'x-file-sha256': 'abc', 'content-length': '300000' } })
    expect(await textOf(answer.body)).toBe(content)
  })

  test('304 is an answer', async () => {
    const server = await serve((_, response) => response.writeHead(304).end())
    const answer = await open(server.url).receive(manifest, {}, { headers: { 'if-none-match': '"1"' } })
    expect(answer.status).toBe(304)
    expect(server.requests[0]?.headers['if-none-match']).toBe('"1"')
  })

  test('one connection serves several requests, also after a fault was answered', async () => {
    const server = await serve((request, response) =>
      request.url?.includes('validate')
        ? json(response, 401, { ok: false, code: 'unauthorized', error: 'no' })
        : json(response, 200, { ok: true, status: 'ok' }),
    )
    const api = open(server.url)
    await api.call(ping, {})
    await failure(api.call(validate, {}))
    await api.call(ping, {})
    expect(server.connections()).toBe(1)
  })
})

describe('errors that the server names', () => {
  test('are the faults it threw, with its text, wait and fields', async () => {
    const body = {
      ok: false,
      success: false,
      error: 'Datei geändert',
      code: 'precondition_failed',
      current: { version: 3 },
    }
    const server = await serve((_, response) => json(response, 412, body, { 'retry-after': '7' }))
    const error = await failure(open(server.url).call(validate, {}))
    expect(error).toBeInstanceOf(Fault)
    expect(error).toMatchObject({
      message: 'Datei geändert',
      code: 'precondition_failed',
      status: 412,
      extra: { retryAfter: 7, fields: { current: { version: 3 } } },
    })
    expect((error as Fault).extra.fields).not.toHaveProperty('ok')
  })

  test('an unknown code is the nearest known one by its status, and keeps its own name and text', async () => {
    const server = await serve((_, response) =>
      json(response, 409, { ok: false, error: 'Locked by Eve', code: 'locked' }),
    )
    expect(await failure(open(server.url).call(validate, {}))).toMatchObject({
      code: 'conflict',
      message: 'Locked by Eve',
      extra: { fields: { code: 'locked' } },
    })
  })

  test('the name of an inherited property is no known code', async () => {
    const server = await serve((_, response) => json(response, 500, { error: 'x', code: 'constructor' }))
    expect(await failure(open(server.url).call(validate, {}))).toMatchObject({ code: 'internal', message: 'x' })
  })

  test('a 500 names the request, for whoever reads the log', async () => {
    const server = await serve((_, response) =>
      json(response, 500, { ok: false, error: 'Interner Fehler', code: 'internal', request_id: 'req-9' }),
    )
    expect((await failure(open(server.url).call(ping, {}))).message).toBe('Interner Fehler (request req-9)')
  })

  test('an answer that says it failed is a failure, whatever its status', async () => {
    const server = await serve((_, response) => json(response, 200, { ok: false, error: 'no', code: 'forbidden' }))
    expect(await failure(open(server.url).call(ping, {}))).toMatchObject({ code: 'forbidden' })
  })

  test('an overlong text is cut', async () => {
    const server = await serve((_, response) =>
      json(response, 400, { error: 'e'.repeat(100_000), code: 'bad_request' }),
    )
    expect((await failure(open(server.url).call(ping, {}))).message.length).toBeLessThanOrEqual(1_000)
  })

  const date = 'Sat, 21 Nov 2026 10:00:00 GMT'
  test.each([
    ['30', 30],
    ['0', 0],
    ['99999999999999999999', 86_400],
    ['Sat, 21 Nov 2026 10:00:30 GMT', 30],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('Retry-After "%s" is a wait of %s seconds', async (value, seconds) => {
    const server = await serve((_, response) =>
      json(response, 429, { ok: false, error: 'slow down', code: 'rate_limited' }, { 'retry-after': value, date }),
    )
    const error = (await failure(open(server.url).call(ping, {}))) as Fault
    expect(error.code).toBe('rate_limited')
    expect(error.extra.retryAfter).toBe(seconds)
  })
})

describe('what is no svc server', () => {
  const refusal = (url: string) => failure(open(url).call(ping, {}))
  const unreachable = (message: RegExp) =>
    expect.objectContaining({ name: 'Unreachable', exitCode: 7, message: expect.stringMatching(message) as string })

  test('a page instead of JSON, whose connection is not used again', async () => {
    const server = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
    const api = open(server.url)
    for (const connections of [1, 2]) {
      const message = /is not an svc server \(it answered 200, text\/html\)/
      expect(await failure(api.call(ping, {}))).toEqual(unreachable(message))
      expect(server.connections()).toBe(connections)
    }
  })

  test('JSON that is none, or no object, or cut', async () => {
    for (const body of ['{"ok":tr', '[]', 'null', '"ok"', '']) {
      const server = await serve((_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      )
      expect(await refusal(server.url)).toEqual(unreachable(/is not an svc server/))
    }
  })

  test('JSON that another program says, whether all is well there or not', async () => {
    for (const [status, body] of [
      [200, { hello: 'world' }],
      [200, { ok: true }],
      [200, { ok: true, healthy: 'yes' }],
      [200, { success: false }],
      [201, {}],
      [401, { message: 'Unauthorized' }],
      [404, { error: { code: 404 } }],
      [404, { detail: 'Not Found' }],
    ] as const) {
      const server = await serve((_, response) => json(response, status, body))
      expect(await refusal(server.url)).toEqual(unreachable(/is not an svc server .*JSON of another program/))
    }
  })

  test('a proxy whose server is away', async () => {
    const server = await serve((_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('Bad Gateway'),
    )
    const error = await refusal(server.url)
    expect(error).toEqual(unreachable(/not available right now \(502\)/))
    expect(error).toMatchObject({ outcomeUnknown: true })
  })

  test('a proxy that refuses the size is named as such', async () => {
    const server = await serve((_, response) =>
      response.writeHead(413, { 'content-type': 'text/html' }).end('too large'),
    )
    const error = await failure(open(server.url).send(upload, { path: '/x' }, pieces('abc'), 3))
    expect(error).toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/proxy .* refuses content of this size/),
    })
  })

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is not followed, and the token goes nowhere',
    async (status) => {
      const other = await serve((_, response) => json(response, 200, { ok: true }))
      const server = await serve((request, response) =>
        response.writeHead(status, { location: `${other.url}/elsewhere${request.url}` }).end(),
      )
      expect(await refusal(server.url)).toEqual(
        unreachable(new RegExp(`redirects to ${other.url}/elsewhere: .* sign in with its own address`)),
      )
      expect(other.requests).toEqual([])
      expect(server.requests).toHaveLength(1)
    },
  )

  test('a redirect of a download is not followed either', async () => {
    const server = await serve((_, response) => response.writeHead(302, { location: '/login?to=x' }).end('moved'))
    const api = open(server.url)
    for (const connections of [1, 2]) {
      const message = new RegExp(`redirects to ${server.url}/login: .* in a browser`)
      expect(await failure(api.receive(download, { path: '/x' }))).toEqual(unreachable(message))
      expect(server.connections()).toBe(connections)
    }
  })

  test('no HTTP at all', async () => {
    const url = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    expect(await refusal(url)).toEqual(unreachable(/does not answer as an HTTP server/))
  })

  test.each([
    ['sound', /not trusted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\): name the file of your own authority/],
    ['expired', /has expired: check the date of this machine/],
    ['early', /is not valid yet: check the date of this machine/],
  ] as const)('a server whose certificate is %s', async (name, message) => {
    const server = createSecureServer({ key, cert: certificates[name] }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await refusal(`https://127.0.0.1:${port}`)).toEqual(unreachable(message))
  })

  test('headers without end', async () => {
    const url = await serveRaw((socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`))
    expect(await refusal(url)).toEqual(unreachable(/does not answer as an HTTP server/))
  })

  test.each([
    ['is given up when it is larger than any sound one', '{"ok":true,"text":"', ping, /answered more than 16 MB/],
    [
      'of another program is given up at its beginning, also where a large one is expected',
      '{',
      delta,
      /not an svc server/,
    ],
  ])('an answer without end %s', async (_, beginning, action, message) => {
    let sent = 0
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(beginning)
      const mebibyte = Buffer.alloc(1_048_576, ' ')
      const more = () => {
        while (response.writable && response.write(mebibyte)) sent += 1
        response.once('drain', more)
      }
      more()
    })
    expect(await failure(open(server.url).call(action as typeof delta, { cursor: 1 }))).toEqual(unreachable(message))
    if (action === delta) expect(sent).toBeLessThan(16)
  })
})

describe('broken connections', () => {
  test('nobody listens', async () => {
    const error = (await failure(open(await deadAddress()).call(ping, {}))) as Unreachable
    expect(error).toMatchObject({ name: 'Unreachable', exitCode: 7, outcomeUnknown: false })
    expect(error.message).toMatch(/^Nothing answers at http:\/\/127\.0\.0\.1:\d+: check/)
  })

  test('a connection closed without an answer leaves the outcome unknown', async () => {
    const error = await failure(open(await serveRaw((socket) => socket.destroy())).call(validate, {}))
    expect(error).toMatchObject({
      name: 'Unreachable',
      outcomeUnknown: true,
      message: expect.stringMatching(/broke off/),
    })
  })

  test('a body that is cut is an error, never a short answer', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n'
    const cut = await failure(open(await serveRaw((socket) => socket.end(`${head}{"ok":true}`))).call(ping, {}))
    expect(cut).toMatchObject({ name: 'Unreachable', outcomeUnknown: true })

    const chunked = 'HTTP/1.1 200 OK\r\nx-file-sha256: abc\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'
    const answer = await open(await serveRaw((socket) => socket.end(chunked))).receive(download, { path: '/x' })
    expect(await failure(textOf(answer.body))).toBeInstanceOf(Unreachable)
  })

  test('a server that falls silent is given up, before its answer and within it', async () => {
    const before = await serve(() => undefined)
    expect(await failure(open(before.url).call(ping, {}, { timeout: 50 }))).toMatchObject({
      name: 'Unreachable',
      outcomeUnknown: true,
      message: expect.stringMatching(/did not answer for/),
    })
    const within = await serve((_, response) => void response.writeHead(200, { 'content-length': '9' }).write('a'))
    const answer = await open(within.url).receive(download, { path: '/x' }, { timeout: 50 })
    expect(await failure(textOf(answer.body))).toBeInstanceOf(Unreachable)
  })

  test('a server that sends a byte now and then is given up, however little it has to say', async () => {
    let passed = 0
    vi.spyOn(process, 'hrtime').mockImplementation(() => [(passed += 5), 0])
    onTestFinished(() => void vi.restoreAllMocks())
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 1)
      response.on('close', () => clearInterval(timer))
    })
    const api = open(server.url)
    const tooSlow = { name: 'Unreachable', outcomeUnknown: true, message: expect.stringMatching(/answers too slowly/) }
    expect(await failure(api.call(ping, {}))).toMatchObject(tooSlow)
    const received = api.receive(download, { path: '/x' }).then(({ body }) => textOf(body))
    expect(await failure(received)).toMatchObject(tooSlow)
  })

  test('a reader that takes its time is not taken for a silent server', async () => {
    const content = 'z'.repeat(2_000_000)
    const server = await serve((_, response) => response.writeHead(200).end(content))
    const { body } = await open(server.url).receive(download, { path: '/x' }, { timeout: 250 })
    let length = 0
    for await (const chunk of body) {
      if (length === 0) await new Promise((resolve) => setTimeout(resolve, 400))
      length += chunk.length
    }
    expect(length).toBe(content.length)
  })

  test('a kept connection that the server has closed meanwhile is replaced, for what may be repeated', async () => {
    // The second request on a connection finds it closed without a byte of answer.
    let answered = 0
    const ok =
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 35\r\n\r\n{"ok":true,"status":"ok","user":{}}'
    const url = await serveRaw((socket) => {
      answered += 1
      socket.write(ok)
      socket.once('data', () => socket.resetAndDestroy())
    })
    const api = open(url)
    await api.call(ping, {})
    await api.call(ping, {})
    expect(answered).toBe(2)
    expect(await failure(api.call(validate, {}))).toMatchObject({ name: 'Unreachable', outcomeUnknown: true })
    await api.call(validate, {})
    await api.call(validate, {}, { repeatable: true })
    expect(answered).toBe(4)
  })

  test('an abort ends the request with its reason, before and within the answer', async () => {
    const server = await serve((_, response) => void response.writeHead(200).write('a'))
    const api = open(server.url)
    const reason = new Error('changed my mind')
    expect(await failure(api.call(ping, {}, { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(server.requests).toEqual([])

    const control = new AbortController()
    const { body } = await api.receive(download, { path: '/x' }, { signal: control.signal })
    const reading = failure(textOf(body))
    control.abort(reason)
    expect(await reading).toBe(reason)
  })
})

describe('large uploads', () => {
  const size = 6 * 1_048_576
  async function* content(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < 6; at += 1) yield await Promise.resolve(Buffer.alloc(1_048_576, String(at)))
  }

  test('a proxy that refuses the size and closes gets the headers, once, and none of the bytes', async () => {
    let received = ''
    let connections = 0
    const url = await serveRaw((socket) => {
      connections += 1
      socket.on('data', (bytes) => (received += bytes.toString('latin1')))
      const text = 'too large'
      socket.end(`HTTP/1.1 413 Too Large\r\ncontent-type: text/html\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
    })
    const error = await failure(open(url).send(upload, { path: '/x' }, content(), size, { repeatable: true }))
    expect(error).toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/proxy .* refuses content/) as string,
    })
    expect({ connections, received }).toEqual({ connections: 1, received: '' })
  })

  test('are sent when the server says so, when it says nothing, and when what stands between knows no such question', async () => {
    const ok = '{"ok":true,"path":"/x"}'
    const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ok.length}\r\n\r\n${ok}`
    const behaviours: ((socket: Socket, connection: number) => void)[] = [
      (socket) => void socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
      () => undefined,
      (socket, connection) => {
        if (connection === 1)
          socket.end('HTTP/1.1 417 Expectation Failed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      },
    ]
    for (const behave of behaviours) {
      let received = 0
      const url = await serveRaw((socket, connection) => {
        socket.on('data', (bytes) => {
          received += bytes.length
          // What came together with the headers is not counted.
          if (received > size - 262_144) socket.end(answer)
        })
        behave(socket, connection)
      })
      expect(await open(url).send(upload, { path: '/x' }, content(), size)).toMatchObject({ path: '/x' })
      expect(received).toBeGreaterThan(size - 262_144)
    }
  })
})

describe('uploads that do not go as planned', () => {
  test('a refusal before the end stops the upload and is what the caller sees', async () => {
    let sent = 0
    async function* endless() {
      for (let piece = 0; piece < 4_000; piece++) {
        sent += 65_536
        yield Buffer.alloc(65_536)
      }
    }
    const refusal = JSON.stringify({ ok: false, error: 'Voll', code: 'quota_exceeded' })
    const url = await serveRaw((socket) => {
      socket.pause()
      socket.write(
        `HTTP/1.1 413 Payload Too Large\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`,
      )
    })
    const error = await failure(open(url).send(upload, { path: '/x' }, endless(), 4_000 * 65_536))
    expect(error).toMatchObject({ code: 'quota_exceeded', message: 'Voll' })
    expect(sent).toBeLessThan(4_000 * 65_536)
  })

  test.each([
    ['shorter', 12],
    ['longer', 5],
  ])('content %s than announced is not sent as if it were whole', async (_, size) => {
    const server = await serve((_request, response) => json(response, 200, { ok: true }))
    const error = await failure(open(server.url).send(upload, { path: '/x' }, pieces('hello ', 'world'), size))
    expect(error.message).toMatch(/changed meanwhile/)
    expect(server.requests).toEqual([])
  })

  test('an error of the source is what the caller sees', async () => {
    const server = await serve((_, response) => json(response, 200, { ok: true }))
    const reason = new Error('disk on fire')
    async function* burning(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a')
      throw reason
    }
    expect(await failure(open(server.url).send(upload, { path: '/x' }, burning(), 10))).toBe(reason)
    expect(server.requests).toEqual([])
  })
})
