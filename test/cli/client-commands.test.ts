import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import module from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { deadAddress, json, serve, type Loopback } from '../client/loopback-server.ts'
import { authority, certificates, key } from '../support/certificates.ts'
import { temporaryFolder } from '../support/folder.ts'

// What scripts cannot say: bytes, hostile servers, and what is left on the disk. Ordinary use stands in scripts/*.txt.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const TOKEN = 'a'.repeat(64)
const user = { id: 7, username: 'ada', display_name: 'Ada' }
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

let place: string
let credentials: string
beforeEach(async () => {
  place = await temporaryFolder()
  onTestFinished(() => rm(place, { recursive: true }))
  credentials = join(place, 'config/svc/credentials.json')
})

interface Ended {
  code: number | null
  stdout: Buffer
  stderr: string
}

/** Runs a command in a home of its own. */
async function svc(
  args: string[],
  { stdin = '', env = {} }: { stdin?: string | Buffer; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: place,
    // What Node keeps between runs, where it does, stands in the home.
    env: {
      PATH: process.env['PATH'],
      HOME: place,
      XDG_CONFIG_HOME: join(place, 'config'),
      NODE_DISABLE_COMPILE_CACHE: '1',
      ...env,
    },
  })
  // A command that ends without reading its input is none the worse for it.
  child.stdin.on('error', () => undefined).end(stdin)
  const stdout: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, stdout: Buffer.concat(stdout), stderr }
}

const signedIn = ({ url }: Loopback) => ({ env: { SVC_URL: url, SVC_TOKEN: TOKEN } })

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

const actionOf = (url = ''): string | null => new URL(url, 'http://localhost').searchParams.get('action')

/** A server that answers by action; `ping` is always answered. */
const serveActions = (actions: Record<string, Answer>): Promise<Loopback> =>
  serve((request, response) => {
    const action = actionOf(request.url) ?? ''
    if (actions[action]) void actions[action](request, response)
    else if (action === 'ping') json(response, 200, { ok: true, status: 'ok', timestamp: '2026-11-21T10:00:00.000Z' })
    else json(response, 400, { ok: false, code: 'unknown_action', error: 'There is no such action here.' })
  })

const actionsSeen = ({ requests }: Loopback) => requests.map(({ path }) => actionOf(path))

test('what Node compiled is kept in the cache of the user, and not in the folder that all users share', async () => {
  const temporary = join(place, 'tmp')
  await mkdir(temporary)
  const env = { TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: undefined }
  const { code } = await svc(['--version'], { env: { ...env, XDG_CACHE_HOME: join(place, 'cache') } })
  expect(code).toBe(0)
  expect(await readdir(temporary)).toEqual([])
  // Older than 22.8 it keeps nothing.
  const kept = 'enableCompileCache' in module ? ['svc'] : undefined
  expect(await readdir(join(place, 'cache')).catch(() => undefined)).toEqual(kept)
})

describe('svc login', () => {
  const second = { ok: true, requires_2fa: true, pending_token: `p_${'b'.repeat(64)}` }
  const withSecondFactor = () => {
    const server = serveActions({
      login: (_, response) => json(response, 200, second),
      login_2fa: async (_, response) => {
        const { code } = JSON.parse((await server).requests.at(-1)!.body) as { code: string }
        if (code === '123456') json(response, 200, { ok: true, token: TOKEN, user })
        else json(response, 401, { ok: false, code: 'invalid_code', error: 'The code is wrong or expired.' })
      },
    })
    return server
  }
  const login = (url: string, ...more: string[]) => ['login', url, '--username', 'ada', '--password-stdin', ...more]

  test('reads password and code from two lines, and keeps the token where only the user can read it', async () => {
    const server = await withSecondFactor()
    const { code, stdout, stderr } = await svc(login(server.url, '--code-stdin', '--json'), {
      stdin: 'secret word\n 123456 \n',
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout.toString())).toMatchObject({
      profile: 'default',
      current: true,
      url: server.url,
      username: 'ada',
      user_id: 7,
    })
    expect(stdout.toString()).not.toContain(TOKEN)
    expect(JSON.parse(server.requests[1]!.body)).toMatchObject({ username: 'ada', password: 'secret word' })

    const stored = JSON.parse(await readFile(credentials, 'utf8')) as { profiles: { default: object } }
    expect(stored.profiles.default).toMatchObject({ url: server.url, username: 'ada', user_id: 7, token: TOKEN })
    expect((await stat(credentials)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(place, 'config/svc'))).toEqual(['credentials.json'])
  })

  test.each([
    ['a wrong code', ['--code-stdin'], 'secret\n000000\n', 4, 'The code is wrong or expired.'],
    ['no second line', ['--code-stdin'], 'secret\n', 2, 'Standard input has no second line with the code.'],
    ['no code at all', [], 'secret\n', 2, 'There is no terminal to ask on: give --code-stdin.'],
  ])('with %s nothing is stored', async (_, flags, stdin, exit, message) => {
    const server = await withSecondFactor()
    const { code, stderr } = await svc(login(server.url, ...flags), { stdin })
    expect({ code, stderr }).toEqual({ code: exit, stderr: `svc: ${message}\n` })
    await expect(stat(credentials)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('names the certificate of another machine, and the address that has no svc server below it', async () => {
    const another = createServer({ key, cert: certificates.forAnother }).listen(0, '127.0.0.1')
    onTestFinished(() => void another.close())
    await once(another, 'listening')
    const host = `127.0.0.1:${(another.address() as AddressInfo).port}`
    const extra = join(place, 'authority.pem')
    await writeFile(extra, authority)
    expect(await svc(login(`https://${host}`), { env: { NODE_EXTRA_CA_CERTS: extra } })).toMatchObject({
      code: 7,
      stderr: `svc: ${host} shows a certificate for other.example: check the address.\n`,
    })
    const { url } = await serve((_, response) => json(response, 404, { ok: false, code: 'not_found', error: 'Gone.' }))
    expect(await svc(login(`${url}/below`))).toMatchObject({
      code: 7,
      stderr: `svc: ${url}/below is not an svc server: check the address.\n`,
    })
  })

  test('sends no password to what is not an svc server, nor along a redirect', async () => {
    const server = await withSecondFactor()
    const page = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
    const away = await serve((request, response) =>
      response.writeHead(308, { location: `${server.url}${request.url}` }).end(),
    )
    for (const { url } of [page, away]) {
      const { code, stderr } = await svc(login(url), { stdin: 'secret\n' })
      expect(code).toBe(7)
      expect(stderr).toMatch(
        /is not an svc server|redirects to .*: if that is your server, sign in with its own address/,
      )
    }
    const bodies = [page, away, server].flatMap(({ requests }) => requests.map(({ body }) => body))
    expect(bodies).toEqual(['', ''])
  })

  test('gives the token back when it cannot be kept', async () => {
    const server = await serveActions({
      login: async (_, response) => {
        // Now there can be no folder of that name.
        await writeFile(join(place, 'config'), '')
        json(response, 200, { ok: true, token: TOKEN, user })
      },
      logout: (_, response) => json(response, 200, { ok: true }),
    })
    const { code, stdout } = await svc(login(server.url), { stdin: 'secret\n' })
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: '' })
    expect(actionsSeen(server)).toEqual(['ping', 'login', 'logout'])
    expect(server.requests[2]!.headers.authorization).toBe(`Bearer ${TOKEN}`)
  })

  test('touches nothing when the stored credentials are damaged or open to others', async () => {
    const server = await serveActions({})
    await mkdir(join(place, 'config/svc'), { recursive: true })
    await writeFile(credentials, 'not json')
    for (const [mode, message] of [
      [0o600, /is damaged/],
      [0o644, /Other users can read .*chmod 600/],
    ] as const) {
      await chmod(credentials, mode)
      const { code, stderr } = await svc(login(server.url), { stdin: 'secret\n' })
      expect(code).toBe(4)
      expect(stderr).toMatch(message)
    }
    expect(await readFile(credentials, 'utf8')).toBe('not json')
    expect(server.requests).toEqual([])
  })
})

describe('svc logout', () => {
  const store = async (url: string) => {
    const profile = { url, username: 'ada', user_id: 7, token: TOKEN, device_id: 'device-0001', device_name: 'Laptop' }
    await mkdir(join(place, 'config/svc'), { recursive: true })
    await writeFile(credentials, JSON.stringify({ current: 'default', profiles: { default: profile } }), {
      mode: 0o600,
    })
  }

  test('keeps the token when the server is away, because it still works there; --force forgets it', async () => {
    await store(await deadAddress())
    const refused = await svc(['logout'])
    expect(refused.code).toBe(7)
    expect(refused.stderr).toMatch(
      /Nothing answers at .* The token still works there; svc logout --force deletes it on this machine/,
    )
    expect(await readFile(credentials, 'utf8')).toContain(TOKEN)

    const forced = await svc(['logout', '--force'])
    expect(forced.code).toBe(0)
    expect(forced.stderr).toMatch(/^warning: The token still works at/)
    const kept = await readFile(credentials, 'utf8')
    expect(kept).not.toContain(TOKEN)
    expect(kept).toContain('device-0001')
  })

  test('forgets a token that the server does not know any more', async () => {
    const server = await serveActions({
      logout: (_, response) => json(response, 401, { ok: false, code: 'unauthorized', error: 'no' }),
    })
    await store(server.url)
    expect(await svc(['logout'])).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(credentials, 'utf8')).not.toContain(TOKEN)
  })

  test('revokes the token of the environment and leaves the file alone', async () => {
    const server = await serveActions({ logout: (_, response) => json(response, 200, { ok: true }) })
    await store('https://elsewhere.example.org')
    const before = await readFile(credentials, 'utf8')
    const { code, stdout } = await svc(['logout'], signedIn(server))
    expect({ code, stdout: stdout.toString() }).toEqual({
      code: 0,
      stdout: `Signed out of ${server.url}. SVC_TOKEN no longer works: unset it.\n`,
    })
    expect(await readFile(credentials, 'utf8')).toBe(before)
  })
})

describe('files', () => {
  const content = randomBytes(3_000_000)
  const mtime = 1_700_000_000

  const sending =
    (bytes: Uint8Array, sum: string): Answer =>
    (_, response) => {
      response
        .writeHead(200, {
          'content-type': 'application/octet-stream',
          'x-file-sha256': sum,
          'x-file-mtime': String(mtime),
        })
        .end(bytes)
    }

  test('come down byte for byte, with their time', async () => {
    const server = await serveActions({ download: sending(content, sha256(content)) })
    expect((await svc(['files', 'get', '/film.bin', '-'], signedIn(server))).stdout.equals(content)).toBe(true)
    expect((await svc(['files', 'get', '/film.bin'], signedIn(server))).code).toBe(0)
    expect((await readFile(join(place, 'film.bin'))).equals(content)).toBe(true)
    expect((await stat(join(place, 'film.bin'))).mtimeMs).toBe(mtime * 1_000)
  })

  test.each([
    ['damaged', 1, sending(content, sha256('something else')), /arrived damaged/],
    [
      'cut',
      7,
      ((_, response) => {
        response.writeHead(200, { 'content-length': content.length, 'x-file-sha256': sha256(content) })
        response.write(content.subarray(0, 1_000_000), () => response.destroy())
      }) as Answer,
      /broke off/,
    ],
    [
      'without its checksum',
      7,
      ((_, response) => response.writeHead(200).end(content)) as Answer,
      /without its checksum/,
    ],
  ])('that arrive %s leave nothing here and replace nothing', async (_, exit, download, message) => {
    const server = await serveActions({ download })
    await writeFile(join(place, 'film.bin'), 'old')
    const { code, stderr } = await svc(['files', 'get', '/film.bin', '--force'], signedIn(server))
    expect(code).toBe(exit)
    expect(stderr).toMatch(message)
    expect(await readdir(place)).toEqual(['film.bin'])
    expect(await readFile(join(place, 'film.bin'), 'utf8')).toBe('old')
  })

  test('of a hostile server stay within the folder they are downloaded to', async () => {
    const entry = (path: string) => ({ path, size: 3, sha256: sha256('abc'), mtime })
    const files = ['/photos/../../escaped', '/photos/a\u0000b', '/photos/..', '/photos//x', '/photos/good'].map(entry)
    const server = await serveActions({
      list: (_, response) =>
        json(response, 200, { ok: true, path: '/', items: [{ name: 'photos', type: 'directory', modified: '' }] }),
      manifest: (_, response) =>
        json(response, 200, { ok: true, files, directories: ['/photos/../outside', '/photos'] }),
      download: sending(Buffer.from('abc'), sha256('abc')),
    })
    const { code, stderr, stdout } = await svc(['files', 'get', '-r', '/photos', 'here'], signedIn(server))
    expect(code).toBe(3)
    expect(stdout.toString()).toBe('Downloaded 1 file (3 B) to here, 5 skipped.\n')
    expect(
      stderr.split('\n').filter((line) => /skipped .*this machine does not allow its name/.test(line)),
    ).toHaveLength(5)
    expect(await readdir(place)).toEqual(['here'])
    expect(await readdir(join(place, 'here'))).toEqual(['good'])
  })

  test('go up byte for byte from standard input, with their checksum and without a trace in the temporary folder', async () => {
    const server = await serve((request, response) => {
      if (actionOf(request.url) === 'list')
        json(response, 404, { ok: false, code: 'not_found', error: 'Nicht gefunden' })
      else json(response, 200, { ok: true, path: '/film.bin', size: 0, sha256: '', mtime, version: 1, cursor: 1 })
    })
    const temporary = join(place, 'tmp')
    await mkdir(temporary)
    const { env } = signedIn(server)
    const text = 'ä\u0000\r\n'.repeat(50_000)
    const { code } = await svc(['files', 'put', '-', '/film.bin', '-n'], {
      stdin: text,
      env: { ...env, TMPDIR: temporary },
    })
    expect(code).toBe(0)
    const upload = server.requests.at(-1)!
    expect(upload.body).toBe(text)
    expect(upload.headers).toMatchObject({
      'content-length': String(Buffer.byteLength(text)),
      'x-file-sha256': sha256(text),
      'if-none-match': '*',
    })
    expect(await readdir(temporary)).toEqual([])
  })

  test('with names made to fool a terminal are shown harmlessly, and told as they are to machines', async () => {
    const name = 'evil\u001b[2J\r\u202egpj.exe'
    const items = [{ name, type: 'file', size: 1, modified: '2026-11-21T10:00:00.000Z' }]
    const server = await serveActions({ list: (_, response) => json(response, 200, { ok: true, path: '/', items }) })
    expect((await svc(['files', 'ls'], signedIn(server))).stdout.toString()).toBe('evil\ufffd[2J\ufffd\ufffdgpj.exe\n')
    expect((await svc(['files', 'ls', '-l'], signedIn(server))).stdout.toString()).toMatch(
      / {2}evil\ufffd\[2J\ufffd\ufffdgpj\.exe\n$/,
    )
    expect(JSON.parse((await svc(['files', 'ls', '--json'], signedIn(server))).stdout.toString())).toEqual(items)
  })
})

test('texts of errors are shown harmlessly too', async () => {
  const server = await serveActions({
    quota: (_, response) => json(response, 403, { ok: false, code: 'forbidden', error: 'no\u001b]0;owned\u0007' }),
  })
  const { code, stderr } = await svc(['files', 'quota'], signedIn(server))
  expect({ code, stderr }).toEqual({ code: 4, stderr: 'svc: no\ufffd]0;owned\ufffd\n' })
})

/** What a client asks once for each token. */
const someAccount: Record<string, Answer> = {
  validate: (_, response) =>
    json(response, 200, { ok: true, user, device: { device_name: 'Laptop' }, expires_at: null }),
  capabilities: (_, response) =>
    json(response, 200, { ok: true, server_id: 's', epoch: 'e', features: {}, limits: {}, retention: {} }),
}

test('an import that breaks off says how far it came and how to go on', async () => {
  let pushes = 0
  const server = await serveActions({
    ...someAccount,
    push: (_, response) => {
      pushes += 1
      if (pushes > 1) return json(response, 403, { ok: false, code: 'forbidden', error: 'This is not allowed.' })
      const results = Array.from({ length: 100 }, (_item, index) => ({
        index,
        ok: true,
        status: 'applied',
        id: index + 1,
        version: 1,
      }))
      json(response, 200, { ok: true, results, cursor: 1, contiguous: true })
    },
  })
  const stdin = Array.from({ length: 150 }, (_, index) => `{"title":"row ${index}"}\n`).join('')
  const { code, stdout, stderr } = await svc(['data', 'import', 'notes', '-'], { stdin, ...signedIn(server) })
  expect(code).toBe(4)
  expect(stdout.toString()).toBe('')
  expect(stderr).toBe(
    'warning: 100 of 150 changes were sent; repeat the command to send the rest.\nsvc: This is not allowed.\n',
  )
})
