import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { Agent, fetch, type RequestInit } from 'undici'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parse } from 'yaml'
import { PASSWORD } from '../support/browser.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { programs, startPostgres } from '../support/postgres.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { folderOfTest } from '../support/server.ts'
import { freePort, programNamed, run, startCaddy, startProgram, written, type Started } from './programs.ts'

// What can be seen of the containers without an engine for them: what their files say, the secrets, and the servers as they are
// started there, behind the real Caddy, on a real Postgres and an S3 store of the tests.

const command = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

interface Service {
  depends_on?: string[] | Record<string, object>
  environment?: Record<string, string>
  env_file?: string[]
  secrets?: string[]
  volumes?: string[]
  networks: string[]
}

interface Compose {
  services: Record<string, Service>
  networks: Record<string, object | null>
  volumes: Record<string, object | null>
  secrets: Record<string, { file: string }>
}

let files: Record<string, string>
let compose: Compose
beforeEach(async () => {
  files = await written('compose-cluster', { host: 'localhost' })
  compose = parse(files['compose.yaml']!, { merge: true }) as Compose
})

const servers = () => Object.keys(compose.services).filter((name) => name.startsWith('svc-'))

/** The secrets, made by the script of the template. */
async function secretsIn(folder: string): Promise<Record<string, string>> {
  await writeFile(join(folder, 'secrets.sh'), files['secrets.sh']!)
  expect(await run('sh', [join(folder, 'secrets.sh')])).toMatchObject({ code: 0 })
  const names = await readdir(join(folder, 'secrets'))
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(folder, 'secrets', name), 'utf8')] as const),
    ),
  )
}

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => /^(\w+)=(.*)$/.exec(line)!.slice(1, 3) as [string, string]),
  )

describe('the compose file', () => {
  test('closes every container off, and starts it again', () => {
    expect(Object.keys(compose.services)).toEqual(['svc-1', 'svc-2', 'caddy', 'postgres', 'store'])
    for (const service of Object.values(compose.services))
      expect(service).toMatchObject({
        restart: 'unless-stopped',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        deploy: { resources: { limits: { memory: expect.stringMatching(/^\d+[mg]$/) as string } } },
      })
  })

  test('lets nobody but Caddy be reached, and nobody else with svc', () => {
    const inside = (network: string) =>
      Object.entries(compose.services).flatMap(([name, { networks }]) => (networks.includes(network) ? [name] : []))
    expect(Object.keys(compose.services).filter((name) => 'ports' in compose.services[name]!)).toEqual(['caddy'])
    expect(compose.networks).toEqual({
      front: { ipam: { config: [{ subnet: compose.services['svc-1']!.environment!['SVC_TRUSTED_PROXIES'] }] } },
      back: { internal: true },
    })
    expect(inside('front')).toEqual([...servers(), 'caddy'])
    expect(inside('back')).toEqual([...servers(), 'postgres', 'store'])
  })

  test('names what there is', async () => {
    const secrets = Object.keys(await secretsIn(await folderOfTest())).map((name) => `secrets/${name}`)
    const named = Object.values(compose.services)
    const sources = named.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':', 1)[0]!))
    const besides = sources.filter((source) => source.startsWith('./')).map((source) => source.slice(2))
    expect(Object.keys(files)).toEqual(expect.arrayContaining(besides))
    const used = [...new Set(sources.filter((source) => !source.startsWith('./')))]
    expect(used.sort()).toEqual(Object.keys(compose.volumes).sort())
    const asked = [
      ...named.flatMap(({ env_file = [] }) => env_file),
      ...named.flatMap((service) => (service.secrets ?? []).map((name) => compose.secrets[name]!.file)),
    ]
    expect([...new Set(asked)].sort()).toEqual(secrets.sort())
    const awaited = named.flatMap(({ depends_on = [] }) =>
      Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
    )
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(awaited))
  })

  test('gives all servers the one key, and Postgres the password of their address', () => {
    for (const name of servers())
      expect(compose.services[name]).toMatchObject({
        env_file: ['secrets/svc.env'],
        secrets: ['secret_key'],
        environment: { SVC_SECRET_KEY_FILE: '/run/secrets/secret_key' },
      })
    expect(compose.services['postgres']).toMatchObject({
      secrets: ['postgres_password'],
      environment: { POSTGRES_PASSWORD_FILE: '/run/secrets/postgres_password' },
    })
    expect(compose.secrets).toEqual({
      secret_key: { file: 'secrets/secret.key' },
      postgres_password: { file: 'secrets/postgres.password' },
    })
  })

  test('asks each service how it is', () => {
    const checks = Object.entries(compose.services).map(([name, service]) => [
      name,
      (service as { healthcheck?: { test: unknown[] } }).healthcheck?.test.slice(0, 2),
    ])
    expect(Object.fromEntries(checks)).toEqual({
      'svc-1': undefined,
      'svc-2': undefined,
      caddy: undefined,
      postgres: ['CMD', 'pg_isready'],
      store: ['CMD', '/garage'],
    })
    // That of svc belongs to its image.
    expect(files['Dockerfile']).toMatch(/^HEALTHCHECK[^]*\/readyz/m)
    const upstreams = /reverse_proxy (.*) \{/.exec(files['Caddyfile']!)![1]!.split(' ')
    expect(upstreams).toEqual(servers().map((name) => `${name}:8420`))
    expect(files['Caddyfile']).toMatch(/health_uri \/readyz$/m)
  })

  test('lets one server alone make the backups', () => {
    const made = servers().filter((name) => compose.services[name]!.environment!['SVC_BACKUP_SCHEDULE'] !== 'off')
    const kept = servers().filter((name) => compose.services[name]!.volumes!.some((it) => /:\/var\/backups/.test(it)))
    expect([made, kept]).toEqual([['svc-1'], ['svc-1']])
    // As its user may write there.
    expect(files['Dockerfile']).toMatch(/--owner node .*\/var\/backups\/svc$/m)
  })
})

describe('the script of the secrets', () => {
  test('makes what fits together, behind a closed door', async () => {
    const folder = await folderOfTest()
    const made = await secretsIn(folder)
    const modeOf = async (name: string) => ((await stat(join(folder, name))).mode & 0o777).toString(8)
    expect(await modeOf('secrets')).toBe('700')
    // Addresses are read by who runs the containers; the rest in them, by users of other numbers.
    expect(await Promise.all(Object.keys(made).map((name) => modeOf(`secrets/${name}`)))).toEqual(
      Object.keys(made).map((name) => (name.endsWith('.env') ? '600' : '444')),
    )
    const svc = variablesOf(made['svc.env']!)
    const store = variablesOf(made['store.env']!)
    expect(made['secret.key']).toMatch(/^[0-9a-f]{64}\n$/)
    expect(svc['SVC_DATABASE']).toBe(`postgres://svc:${made['postgres.password']!.trim()}@postgres/svc`)
    expect(svc['AWS_ACCESS_KEY_ID']).toMatch(/^GK[0-9a-f]{24}$/)
    expect(store).toEqual({
      GARAGE_DEFAULT_ACCESS_KEY: svc['AWS_ACCESS_KEY_ID'],
      GARAGE_DEFAULT_SECRET_KEY: svc['AWS_SECRET_ACCESS_KEY'],
      GARAGE_RPC_SECRET: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    })
    const values = [made['secret.key'], made['postgres.password'], ...Object.values(store)]
    expect(new Set(values).size).toBe(5)
  })

  test('leaves those that are there as they are', async () => {
    const folder = await folderOfTest()
    const made = await secretsIn(folder)
    expect(await run('sh', [join(folder, 'secrets.sh')])).toEqual({
      code: 1,
      text: expect.stringMatching(/^secrets\/ already exists/) as string,
    })
    expect(await readFile(join(folder, 'secrets', 'secret.key'), 'utf8')).toBe(made['secret.key'])
  })

  test('makes all of them or none', async () => {
    const folder = await folderOfTest()
    const broken = join(folder, 'bin', 'openssl')
    await mkdir(dirname(broken))
    await writeFile(broken, '#!/bin/sh\nexit 1\n')
    await chmod(broken, 0o755)
    await writeFile(join(folder, 'secrets.sh'), files['secrets.sh']!)
    const { code } = await run('sh', [join(folder, 'secrets.sh')], {
      PATH: `${dirname(broken)}:${process.env['PATH']}`,
    })
    expect(code).toBe(1)
    expect((await readdir(folder)).sort()).toEqual(['bin', 'secrets.sh'])
  })
})

const s3 = s3OfFile()

/** A Postgres server that asks for the password, as that of the image does. */
async function postgresWith(password: string): Promise<number> {
  const cluster = await startPostgres()
  onTestFinished(() => cluster.stop())
  const client = new pg.Client(await cluster.database('svc'))
  await client.connect()
  try {
    await client.query(`alter role svc password ${client.escapeLiteral(password)}`)
    const { rows } = await client.query<{ hba_file: string }>('show hba_file')
    await writeFile(rows[0]!.hba_file, 'host all all 127.0.0.1/32 scram-sha-256\n')
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
  return Number(new URL(cluster.url).port)
}

interface Server extends Started {
  port: number
  url: string
}

/** The services of svc as the compose file starts them, where addresses and folders are those of this machine. */
async function svcServices(folder: string) {
  const secrets = await secretsIn(folder)
  const port = await postgresWith(secrets['postgres.password']!.trim())
  const bucket = await s3.bucket('svc')
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'svc'), `#!/bin/sh\nexec ${process.execPath} ${command} "$@"\n`, { mode: 0o755 })

  const envOf = (name: string, own: Record<string, string>): Record<string, string> => ({
    ...variablesOf(secrets['svc.env']!.replace('@postgres/', `@127.0.0.1:${port}/`)),
    ...compose.services[name]!.environment,
    SVC_BLOBS: compose.services[name]!.environment!['SVC_BLOBS']!.replace('http://store:3900', bucket.endpoint),
    // The store of the tests knows one key only.
    ...s3Environment,
    SVC_SECRET_KEY_FILE: join(folder, compose.secrets['secret_key']!.file),
    SVC_TRUSTED_PROXIES: '127.0.0.1',
    SVC_DATA_DIR: join(folder, name),
    SVC_LIMITS: 'off',
    HOME: folder,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    ...own,
  })
  function start(name: string, at: number): Server {
    const [program, ...args] = JSON.parse(/^CMD (.*)$/m.exec(files['Dockerfile']!)![1]!) as string[]
    const started = startProgram(program!, args, envOf(name, { SVC_PORT: String(at), SVC_LOG_FORMAT: 'json' }))
    return { ...started, port: at, url: `http://127.0.0.1:${at}` }
  }
  return { bucket, start, run: (name: string, args: string[]) => run('svc', args, envOf(name, {})) }
}

async function isReady({ url, printed }: Server): Promise<void> {
  await vi.waitFor(
    async () => {
      const { status } = await fetch(`${url}/readyz`).catch((cause: unknown) => {
        throw new Error(`It does not answer: ${printed()}`, { cause })
      })
      expect(status).toBe(200)
    },
    { timeout: 60_000, interval: 100 },
  )
}

/** The real Caddy in front of servers; what it is asked, and how many requests are at each of them. */
async function caddyBefore(upstreams: readonly Server[], folder: string) {
  const ports = { http: await freePort(), https: await freePort() }
  const admin = `127.0.0.1:${await freePort()}`
  const text = servers().reduce(
    (it, name, index) => it.replace(`${name}:8420`, `127.0.0.1:${upstreams[index]!.port}`),
    files['Caddyfile']!,
  )
  const { printed } = await startCaddy(programNamed('caddy')!, text, ports, folder, admin)
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false, servername: 'localhost' } })
  onTestFinished(() => dispatcher.destroy())
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`https://localhost:${ports.https}${path}`, { ...init, dispatcher })
  await vi.waitFor(
    async () => {
      const { status } = await send('/healthz').catch((cause: unknown) => {
        throw new Error(`Caddy does not answer: ${printed()}`, { cause })
      })
      expect(status).toBe(200)
    },
    { timeout: 60_000, interval: 100 },
  )
  return {
    send,
    async requests(): Promise<number[]> {
      const answer = await fetch(`http://${admin}/reverse_proxy/upstreams`)
      const found = (await answer.json()) as { address: string; num_requests: number }[]
      return upstreams.map(({ port }) => found.find(({ address }) => address.endsWith(`:${port}`))!.num_requests)
    },
  }
}

const DELTA = '/api/sync/data.php?action=delta'

test.skipIf(!programNamed('caddy') || programs === undefined)(
  'two servers answer as one, and one goes on when the other is gone',
  { timeout: 180_000 },
  async () => {
    const folder = await folderOfTest()
    const site = await svcServices(folder)
    // Both at once, on a database with nothing in it.
    const first = site.start('svc-1', await freePort())
    let second = site.start('svc-2', await freePort())
    await Promise.all([isReady(first), isReady(second)])
    await writeFile(join(folder, 'password'), PASSWORD)
    const added = ['user', 'add', 'ada', '--role', 'admin', '--password-file', join(folder, 'password')]
    expect(await site.run('svc-1', added)).toMatchObject({ code: 0 })
    const { send, requests } = await caddyBefore([first, second], folder)

    const signIn = { username: 'ada', password: PASSWORD, device_id: 'laptop-0001', device_name: 'Laptop' }
    const json = { 'content-type': 'application/json' }
    const login = await send('/api/sync/auth.php?action=login', {
      method: 'POST',
      headers: json,
      body: JSON.stringify(signIn),
    })
    const headers = { ...json, authorization: `Bearer ${((await login.json()) as { token: string }).token}` }
    const push = async (title: string) => {
      const operations = [{ table: 'svc_notes', operation: 'INSERT', data: { title } }]
      const body = JSON.stringify({ operations })
      return (await send('/api/sync/data.php?action=push', { method: 'POST', headers, body })).status
    }
    const delta = async (query: string) => {
      const { status, text } = await send(`${DELTA}&${query}`, { headers }).then(
        async (answer) => ({ status: answer.status, text: await answer.text() }),
        // A connection that broke is an answer that was not given.
        (error: Error) => ({ status: 0, text: error.message }),
      )
      const said = status === 200 ? (JSON.parse(text) as { cursor: number; count: number }) : { cursor: -1, count: -1 }
      return { status, text, ...said }
    }

    // What was sent to one, any of them gives back: there is one token, one tree and one bucket.
    const content = bytesOf(1024 ** 2)
    const path = encodeURIComponent('/a file.bin')
    const file = (action: string) => `/api/sync/files.php?action=${action}&path=${path}`
    const type = 'application/octet-stream'
    const sent = { method: 'POST', headers: { ...headers, 'content-type': type }, body: content }
    expect((await send(file('upload'), sent)).status).toBe(200)
    expect(await site.bucket.objects()).toEqual([expect.stringContaining(sha256Of(content)), 'installation'])
    for (const { url } of [first, second]) {
      const found = await fetch(`${url}${file('download')}`, { headers })
      expect(sha256Of(Buffer.from(await found.arrayBuffer()))).toBe(sha256Of(content))
    }

    // Two clients wait for news, one at each server; then one of them is gone, as with a power cut.
    const { cursor } = await delta('cursor=0')
    const waiting = [1, 2].map(() => delta(`cursor=${cursor}&wait=55`))
    await vi.waitFor(async () => expect(await requests()).toEqual([1, 1]), { timeout: 60_000, interval: 50 })
    await second.end('SIGKILL')
    for (let index = 0; index < 10; index += 1)
      expect(await delta('cursor=0')).toMatchObject({ status: 200, count: cursor })
    expect(await push('News')).toBe(200)
    for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ status: 200, count: 1 })

    // It is back, and gets requests again.
    second = site.start('svc-2', second.port)
    await isReady(second)
    await vi.waitFor(
      async () => {
        expect((await delta('cursor=0')).status).toBe(200)
        expect(second.printed()).toContain('/api/sync/data.php')
      },
      { timeout: 60_000, interval: 50 },
    )

    // The other one is stopped, as for an update, and nobody notices.
    const stopped = first.end('SIGTERM').then(() => true)
    do expect((await delta('cursor=0')).status).toBe(200)
    while (!(await Promise.race([stopped, false])))
    // The proxy notices with the first request that fails. It does not repeat a change: a client sends it again.
    await vi.waitFor(async () => expect(await push('Later')).toBe(200), { timeout: 60_000 })
    const found = await send(file('download'), { headers })
    expect(sha256Of(Buffer.from(await found.arrayBuffer()))).toBe(sha256Of(content))
  },
)
