import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { buildConnector } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { isFault } from '../../src/contract/errors.ts'
import { makePageFetcher, type FetchOptions } from '../../src/outside/fetch-page.ts'
import { stepsOf } from '../support/work.ts'

const PUBLIC = '93.184.215.14'

/** A server on loopback, with the number of connections it saw. */
async function webServer(listener: RequestListener): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const server = createServer(listener)
  server.on('connection', () => (connections += 1))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  )
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

const real = buildConnector({})

/** A fetcher for which every name is public and leads to a server of the test, as if it stood at that address. */
function fetcherTo(port: number, more: FetchOptions = {}) {
  return makePageFetcher({
    resolve: () => Promise.resolve([{ address: PUBLIC }]),
    dial: (options, done) =>
      real({ ...options, protocol: 'http:', hostname: '127.0.0.1', port: String(port) }, (error, socket) => {
        if (error) return done(error, null)
        Object.defineProperty(socket, 'remoteAddress', { value: PUBLIC })
        done(null, socket)
      }),
    ...more,
  })
}

const never = () => new AbortController().signal

const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'fetched',
    (error: unknown) => (isFault(error) ? `${error.code}: ${error.message}` : Promise.reject(error as Error)),
  )

const answer =
  (body: string | Uint8Array, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)

test('reads a page as text', async () => {
  const { port } = await webServer(
    answer(`<html><head><title>The  Engine &amp; co</title><style>p{color:red}</style><script>steal()</script></head>
      <body><nav><a href="/x">Menu</a></nav><main><h1>Cogs</h1><p>Many <b>cogs</b>.</p><img src="https://evil.example/x.png">
      <ul><li>one</li><li>two</li></ul><a href="/more">more</a></main></body></html>`),
  )
  const page = await fetcherTo(port)('http://example.com/engine', never())
  expect(page.url).toBe('http://example.com/engine')
  expect(page.title).toBe('The Engine & co')
  expect(page.text).toBe('# Cogs\n\nMany cogs.\n\n- one\n- two\nmore (http://example.com/more)')
})

test('sends nothing about anybody', async () => {
  const seen: Record<string, unknown>[] = []
  const { port } = await webServer((request, response) => {
    seen.push({ method: request.method, ...request.headers })
    response.setHeader('set-cookie', 'a=b')
    if (request.url === '/') response.writeHead(302, { location: '/next' }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
  })
  expect((await fetcherTo(port)('http://example.com/', never())).text).toBe('ok')
  expect(seen).toHaveLength(2)
  for (const headers of seen) {
    expect(headers).toMatchObject({ method: 'GET', 'user-agent': 'svc-assistant', host: 'example.com' })
    for (const name of ['cookie', 'authorization', 'referer']) expect(headers).not.toHaveProperty(name)
  }
})

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fe80::1]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.1/',
  'http://localhost/',
  'http://localhost./',
  'http://LOCALHOST/',
  'http://svc.localhost/',
  'http://printer.local/',
  'http://metadata.google.internal/',
  'http://cloud.example.org/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  'http://user:pass@example.com/',
  'http://example.com:22/',
  'http://example.com:8420/',
  'not a url',
  '',
])('%s is refused without a connection', async (url) => {
  const { port, connections } = await webServer(answer('secret'))
  const fetchPage = makePageFetcher({
    ownHosts: ['cloud.example.org'],
    resolve: () => Promise.resolve([{ address: PUBLIC }]),
    // Whatever gets this far reaches the server.
    dial: (options, done) => real({ ...options, protocol: 'http:', hostname: '127.0.0.1', port: String(port) }, done),
  })
  expect(await codeOf(fetchPage(url, never()))).toMatch(/^(forbidden|bad_request): /)
  expect(connections()).toBe(0)
})

test.each([
  [['127.0.0.1']],
  [[PUBLIC, '127.0.0.1']],
  [['10.0.0.7', PUBLIC]],
  [['::1']],
  [['::ffff:127.0.0.1']],
  [['64:ff9b::a00:1']],
  [[]],
])('a name that resolves to %j is refused without a connection', async (addresses) => {
  const { port, connections } = await webServer(answer('secret'))
  const resolve = () => Promise.resolve(addresses.map((address) => ({ address })))
  expect(await codeOf(fetcherTo(port, { resolve })('http://example.com/', never()))).toContain('public internet')
  expect(connections()).toBe(0)
})

test('a connection that ends somewhere private after all is refused before anything is sent', async () => {
  const asked: unknown[] = []
  const { port } = await webServer((request) => asked.push(request.url))
  const fetchPage = makePageFetcher({
    resolve: () => Promise.resolve([{ address: PUBLIC }]),
    dial: (options, done) => real({ ...options, protocol: 'http:', hostname: '127.0.0.1', port: String(port) }, done),
  })
  expect(await codeOf(fetchPage('http://example.com/', never()))).toContain('public internet')
  expect(asked).toEqual([])
})

test('a name is resolved once for each connection, and the connection goes to what was examined', async () => {
  const { port } = await webServer(answer('ok', { 'content-type': 'text/plain' }))
  let asked = 0
  const reached: string[] = []
  const fetchPage = makePageFetcher({
    resolve: () => Promise.resolve([{ address: asked++ === 0 ? PUBLIC : '127.0.0.1' }]),
    dial(options, done) {
      reached.push(options.hostname)
      real({ ...options, hostname: '127.0.0.1', port: String(port) }, (error, socket) => {
        if (error) return done(error, null)
        Object.defineProperty(socket, 'remoteAddress', { value: PUBLIC })
        done(null, socket)
      })
    },
  })
  expect((await fetchPage('http://example.com/', never())).text).toBe('ok')
  expect(asked).toBe(1)
  expect(reached).toEqual([PUBLIC])
})

test.each([
  'http://127.0.0.1/',
  'http://[::1]/',
  'http://2130706433/',
  '//169.254.169.254/x',
  'http://localhost/',
  'http://inside.example.com/',
  'file:///etc/passwd',
  'http://user@example.com/',
  'http://example.com:22/',
])('a redirect to %s is refused', async (location) => {
  const secret = await webServer(answer('secret'))
  const { port } = await webServer((_request, response) => response.writeHead(302, { location }).end())
  const resolve = (host: string) => Promise.resolve([{ address: host === 'inside.example.com' ? '127.0.0.1' : PUBLIC }])
  expect(await codeOf(fetcherTo(port, { resolve })('http://example.com/', never()))).toMatch(
    /^(forbidden|bad_request): /,
  )
  expect(secret.connections()).toBe(0)
})

test('three redirects are followed, four are not, and none away from https', async () => {
  const { port } = await webServer((request, response) => {
    const left = Number(request.url!.slice(1))
    if (left === 0) response.writeHead(200, { 'content-type': 'text/plain' }).end('there')
    else response.writeHead(301, { location: `/${left - 1}` }).end()
  })
  const fetchPage = fetcherTo(port)
  expect(await fetchPage('http://example.com/3', never())).toMatchObject({ url: 'http://example.com/0', text: 'there' })
  expect(await codeOf(fetchPage('http://example.com/4', never()))).toContain('redirects more than 3 times')
  const { port: plain } = await webServer((_request, response) =>
    response.writeHead(302, { location: 'http://example.com/' }).end(),
  )
  expect(await codeOf(fetcherTo(plain)('https://example.com/', never()))).toContain('from https:// to http://')
})

test('a page is bounded after it was decompressed, and by time', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, 'a'))
  const { port } = await webServer(answer(bomb, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }))
  expect((await fetcherTo(port)('http://example.com/', never())).text).toHaveLength(2 * 1_048_576)

  const { port: slow } = await webServer(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('a'),
  )
  expect(await codeOf(fetcherTo(slow, { limits: { totalMs: 200 } })('http://example.com/', never()))).toContain(
    'took longer',
  )
  const { port: silent } = await webServer(() => undefined)
  expect(await codeOf(fetcherTo(silent, { limits: { headersMs: 100 } })('http://example.com/', never()))).toContain(
    'could not be reached',
  )
  await expect(fetcherTo(silent)('http://example.com/', AbortSignal.abort())).rejects.toThrow(/abort/i)
})

test('what is no text, no answer or no server is said', async () => {
  const { port } = await webServer(answer(Buffer.from([1, 2, 3]), { 'content-type': 'application/octet-stream' }))
  expect(await codeOf(fetcherTo(port)('http://example.com/', never()))).toMatch(/^unsupported_media_type: /)
  const { port: missing } = await webServer((_request, response) => response.writeHead(404).end())
  expect(await codeOf(fetcherTo(missing)('http://example.com/', never()))).toBe(
    'bad_request: example.com answered 404.',
  )
  const { port: cut } = await webServer((request) => request.socket.destroy())
  expect(await codeOf(fetcherTo(cut)('http://example.com/', never()))).toContain('could not be reached')
  const nowhere = makePageFetcher({
    resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
  })
  expect(await codeOf(nowhere('http://nowhere.example/', never()))).toBe(
    'bad_request: nowhere.example could not be reached: ENOTFOUND.',
  )
})

test.each([
  ['deep', '<div>'.repeat(100_000)],
  ['deep and crossed', `${'<b><i>'.repeat(50_000)}${'</p></b>'.repeat(50_000)}`],
  ['blank', `<pre>${' '.repeat(1_000_000)}x</pre>`],
  ['wide', '<p>x</p>'.repeat(100_000)],
  ['unclosed', '<a href="'.repeat(20_000)],
  ['entities', '&amp;'.repeat(200_000)],
  ['tables', `${'<table><tr><td>'.repeat(2_000)}x`],
])('a hostile page (%s) is read with little work', async (_kind, html) => {
  const { port } = await webServer(answer(html))
  expect(await stepsOf(() => fetcherTo(port)('http://example.com/', never()))).toBeLessThan(1_000)
})
