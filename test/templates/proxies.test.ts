import { once } from 'node:events'
import { writeFile, stat } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { connect } from 'node:http2'
import { Agent, request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { newUser, PASSWORD } from '../support/browser.ts'
import { bytesOf, sha256Of, temporaryFilesOf } from '../support/contents.ts'
import { folderOfTest, serverOfTest, type TestServer } from '../support/server.ts'
import { freePort, programNamed, run, startCaddy, startProgram, written, type Ports, type Started } from './programs.ts'

// Each proxy runs with the configuration a template writes, in front of a real server: only ports and certificates are others.

const MiB = 1024 ** 2

/** How a proxy is told to serve on free ports of this machine, with a certificate of its own making. */
interface Proxy {
  program: string
  template: string
  start(program: string, text: string, ports: Ports, folder: string): Promise<Started>
}

async function certificate(folder: string): Promise<void> {
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')]
  const { code, text } = await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...names])
  if (code !== 0) throw new Error(text)
}

const onLoopback = (text: string, { http, https }: Ports, folder: string) =>
  text
    .replaceAll(/^ *listen \[::\].*$/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${http};`)
    .replace('listen 443 ', `listen 127.0.0.1:${https} `)
    .replace('*:80>', `127.0.0.1:${http}>`)
    .replace('*:443>', `127.0.0.1:${https}>`)
    .replaceAll('/etc/letsencrypt/live/localhost', folder)

const isRoot = process.getuid?.() === 0

const proxies: Proxy[] = [
  {
    program: 'nginx',
    template: 'nginx',
    async start(program, text, ports, folder) {
      await certificate(folder)
      await writeFile(join(folder, 'svc.conf'), onLoopback(text, ports, folder))
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (it) => `${it}_temp_path ${folder}/${it};`,
      )
      const main = `daemon off; pid ${folder}/nginx.pid; error_log stderr; ${isRoot ? 'user root;' : ''}
        events { worker_connections 8192; } http { access_log off; ${temporary.join(' ')} include ${folder}/svc.conf; }`
      await writeFile(join(folder, 'nginx.conf'), main)
      const args = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')]
      expect(await run(program, [...args, '-t'])).toMatchObject({
        code: 0,
        text: expect.not.stringContaining('[warn]') as string,
      })
      return startProgram(program, args)
    },
  },
  {
    program: 'apache2',
    template: 'apache',
    async start(program, text, ports, folder) {
      await certificate(folder)
      await writeFile(join(folder, 'svc.conf'), onLoopback(text, ports, folder))
      const modules = [
        'mpm_event',
        'authz_core',
        'proxy',
        'proxy_http',
        'ssl',
        'http2',
        'headers',
        'alias',
        'reqtimeout',
      ]
      const main = [
        ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
        `ServerName localhost`,
        `PidFile ${folder}/apache.pid`,
        `DefaultRuntimeDir ${folder}`,
        `ErrorLog ${folder}/error.log`,
        // On a slow machine the next request must not meet a connection that is just being closed.
        'KeepAliveTimeout 60',
        `Listen 127.0.0.1:${ports.http}`,
        `Listen 127.0.0.1:${ports.https}`,
        ...(isRoot ? ['User www-data', 'Group www-data'] : []),
        `Include ${folder}/svc.conf`,
      ]
      await writeFile(join(folder, 'apache.conf'), main.join('\n'))
      const args = ['-f', join(folder, 'apache.conf')]
      expect(await run(program, [...args, '-t'])).toMatchObject({ code: 0 })
      return startProgram(program, [...args, '-DFOREGROUND'])
    },
  },
  {
    program: 'caddy',
    template: 'caddy',
    start: startCaddy,
  },
]

interface Answered {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** A server behind a proxy, and requests to it as its users make them. */
async function behind({ program, template, start }: Proxy): Promise<{
  server: TestServer
  ports: Ports
  send(path: string, options?: RequestOptions, body?: string | Buffer | AsyncIterable<Buffer>): Promise<Answered>
}> {
  const server = await serverOfTest({ flags: { public_url: 'https://localhost', trusted_proxies: '127.0.0.1' } })
  const folder = await folderOfTest()
  const ports = { http: await freePort(), https: await freePort() }
  const text = Object.values(await written(template, { host: 'localhost', port: Number(new URL(server.url).port) }))[0]!
  const { printed } = await start(programNamed(program)!, text, ports, folder)
  const agent = new Agent({ rejectUnauthorized: false, servername: 'localhost', keepAlive: true })
  onTestFinished(() => agent.destroy())

  const send = async (
    path: string,
    options: RequestOptions = {},
    body?: string | Buffer | AsyncIterable<Buffer>,
  ): Promise<Answered> => {
    const headers = { host: 'localhost', ...(options.headers as Record<string, string>) }
    const sent = request({ host: '127.0.0.1', port: ports.https, agent, path, ...options, headers })
    const answered = once(sent, 'response') as Promise<[import('node:http').IncomingMessage]>
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body)
    else {
      // A refusal may come before all of it is sent.
      for await (const part of body) if (!sent.write(part)) await Promise.race([once(sent, 'drain'), answered])
      sent.end()
    }
    const [response] = await answered
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part as Buffer)
    return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) }
  }
  await vi.waitFor(
    async () => {
      const { status } = await send('/healthz').catch((cause: unknown) => {
        throw new Error(`${program} does not answer: ${printed()}`, { cause })
      })
      expect(status).toBe(200)
    },
    { timeout: 60_000, interval: 100 },
  )
  return { server, ports, send }
}

describe.each(proxies)('$program in front of svc', (proxy) => {
  test.skipIf(!programNamed(proxy.program))('passes on what users do', async () => {
    const { server, ports, send } = await behind(proxy)
    const json = { 'content-type': 'application/json' }

    // A browser signs in, from a page of the public name.
    const { username } = await newUser(server)
    const credentials = JSON.stringify({ username, password: PASSWORD })
    const login = await send(
      '/api/login.php',
      { method: 'POST', headers: { ...json, origin: 'https://localhost' } },
      credentials,
    )
    expect(login.status).toBe(200)
    expect(login.headers['set-cookie']![0]).toMatch(/^PHPSESSID=.*; Secure/)
    const foreign = await send(
      '/api/login.php',
      { method: 'POST', headers: { ...json, origin: 'https://evil.example' } },
      credentials,
    )
    expect(foreign.status).toBe(403)

    // A device signs in, and nobody else's address is believed.
    const device = JSON.stringify({ username, password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop' })
    const spoofed = { ...json, 'x-forwarded-for': '198.51.100.7' }
    const signedIn = await send('/api/sync/auth.php?action=login', { method: 'POST', headers: spoofed }, device)
    const { token } = JSON.parse(signedIn.body.toString()) as { token: string }
    const authorization = `Bearer ${token}`
    const row = await server.database.read.q
      .selectFrom('audit')
      .selectAll()
      .where('kind', '=', 'token.issued')
      .execute()
    expect(row.map(({ ip }) => ip)).toEqual(['127.0.0.1'])

    // Nothing but TLS, and browsers are told so once.
    expect([login, signedIn].map(({ headers }) => headers['strict-transport-security'])).toEqual(
      Array.from({ length: 2 }, () => 'max-age=31536000'),
    )
    const [redirect] = (await once(
      plainRequest({ host: '127.0.0.1', port: ports.http, path: '/apps/a?b=c', headers: { host: 'localhost' } }).end(),
      'response',
    )) as [import('node:http').IncomingMessage]
    redirect.resume()
    expect([[301, 308].includes(redirect.statusCode!), redirect.headers.location]).toEqual([
      true,
      expect.stringMatching(/^https:\/\/localhost(:\d+)?\/apps\/a\?b=c$/),
    ])

    // A large file reaches the server while it is still being sent.
    const content = bytesOf(50 * MiB)
    async function* slowly() {
      yield content.subarray(0, 30 * MiB)
      await vi.waitFor(async () => {
        const [arriving = ''] = await temporaryFilesOf(server.dataDir)
        expect((await stat(join(server.dataDir, 'blobs', 'tmp', arriving))).size).toBeGreaterThan(20 * MiB)
      }, 60_000)
      yield content.subarray(30 * MiB)
    }
    const path = encodeURIComponent('/große Datei.bin')
    const sized = {
      authorization,
      'content-length': String(content.length),
      'content-type': 'application/octet-stream',
    }
    const upload = await send(
      `/api/sync/files.php?action=upload&path=${path}`,
      { method: 'POST', headers: sized },
      slowly(),
    )
    expect([upload.status, JSON.parse(upload.body.toString())]).toEqual([
      200,
      expect.objectContaining({ sha256: sha256Of(content), path: '/große Datei.bin' }),
    ])
    const download = await send(`/api/sync/files.php?action=download&path=${path}`, { headers: { authorization } })
    expect(sha256Of(download.body)).toBe(sha256Of(content))

    // The address of a download names a thousand items, of which here none is there.
    const ids = Array.from({ length: 1_000 }, (_, at) => 900_000_000 + at).join('.')
    const chosen = await send(`/api/filesystem.php?action=archive&path=%2F&ids=${ids}`, { headers: { authorization } })
    expect([chosen.status, chosen.body.toString()]).toEqual([404, expect.stringContaining('"not_found"')])

    // A client waits for news, and gets it when there is some.
    const { cursor } = JSON.parse(upload.body.toString()) as { cursor: number }
    const news = send(`/api/sync/data.php?action=delta&cursor=${cursor}&wait=55`, { headers: { authorization } })
    const note = JSON.stringify({ operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'News' } }] })
    const push = { method: 'POST', headers: { ...json, authorization } }
    expect((await send('/api/sync/data.php?action=push', push, note)).status).toBe(200)
    expect(JSON.parse((await news).body.toString())).toMatchObject({ count: 1 })

    if (proxy.program === 'nginx') {
      // Whoever tries passwords is slowed down before svc sees them, and others are not.
      const attempts = await Promise.all(
        Array.from({ length: 60 }, () => send('/api/login.php', { method: 'POST', headers: json }, '{}')),
      )
      expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set([400, 429]))
      expect((await send('/api/session.php')).status).toBe(401)
    }

    // HTTP/2.
    const session = connect(`https://127.0.0.1:${ports.https}`, { rejectUnauthorized: false, servername: 'localhost' })
    const stream = session.request({ ':path': '/healthz', ':authority': 'localhost' })
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    stream.resume()
    await once(stream, 'close')
    session.close()
    expect(head[':status']).toBe(200)

    // What is for this machine alone is not for those a proxy speaks for.
    expect((await send('/metrics')).status).toBe(404)
  })
})

test.each([
  ['nginx', /proxy_(read|send)_timeout (\d+)s/g],
  ['apache', /timeout=(\d+)/gi],
  ['caddy', /_timeout (\d+)s/g],
  ['compose-cluster', /response_header_timeout (\d+)s/g],
  ['traefik', /responseHeaderTimeout: (\d+)s/g],
])('%s waits longer than a client for news', async (name, timeout) => {
  const text = Object.values(await written(name)).join('\n')
  const found = [...text.matchAll(timeout)].map((match) => Number(match.at(-1)))
  expect(found.length).toBeGreaterThan(0)
  for (const seconds of found) expect(seconds).toBeGreaterThanOrEqual(75)
})
