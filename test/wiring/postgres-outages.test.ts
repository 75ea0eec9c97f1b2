import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { runCommandWith } from '../support/command.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess, type ServerProcess } from '../support/server-process.ts'

const SERVERS = 3
/** Pushes that every server has to acknowledge between two faults. */
const PUSHES = 5

interface Operation {
  op_id: string
  title: string
}

/** Runs a command to its end and returns its standard output. */
async function run(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommandWith(env, ...args)
  expect(code, stderr).toBe(0)
  return stdout
}

async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const server = await startServerProcess(env)
  onTestFinished(() => server.kill())
  return server
}

/** What an unavailable database may lead to; anything else is a bug. */
const ALLOWED = new Set([200, 503])

describe.skipIf(programs === undefined)('three servers whose database goes away under load', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  test('go on by themselves after every fault, and lose nothing they acknowledged', { timeout: 300_000 }, async () => {
    const folder = await folderOfTest()
    const name = freshName()
    const database = await cluster.database(name)
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const envOf = (place: string) => ({
      PATH: process.env['PATH']!,
      HOME: folder,
      SVC_DATA_DIR: join(folder, place),
      SVC_DATABASE: database,
      SVC_SECRET_KEY_FILE: keyFile,
      SVC_LIMITS: 'off',
    })
    const env = envOf('server-0')
    await run(env, 'user', 'add', 'ada', '--role', 'admin', '--generate')
    const minted = await run(env, 'token', 'mint', '--user', 'ada', '--ttl', '1h', '--json')
    const { token } = JSON.parse(minted) as { token: string }
    const servers = await Promise.all(
      Array.from({ length: SERVERS }, (_, index) => startServer(envOf(`server-${index}`))),
    )

    /** Asks a server; a broken answer fails the test, a refused connection is not one: the process must live. */
    async function ask(server: ServerProcess, path: string, body?: object): Promise<{ status: number; json: unknown }> {
      const response = await fetch(`${server.url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      const json: unknown = await response.json()
      if (!ALLOWED.has(response.status)) throw new Error(`${path} answered ${response.status}: ${server.log()}`)
      return { status: response.status, json }
    }

    const acknowledged: Operation[] = []
    /** Sends one operation, again under the same op_id until it is acknowledged. */
    async function push(server: ServerProcess): Promise<void> {
      const operation = { op_id: randomUUID(), title: `note ${acknowledged.length}` }
      const data = { title: operation.title }
      const body = { operations: [{ ...operation, operation: 'INSERT', table: 'svc_notes', data, title: undefined }] }
      for (;;) {
        const { status, json } = await ask(server, '/api/sync/data.php?action=push', body)
        if (status !== 200) continue
        const { results } = json as { results: { ok: boolean }[] }
        expect(results[0]!.ok).toBe(true)
        acknowledged.push(operation)
        return
      }
    }

    let isOver = false
    /** Readers of every kind, also anonymous ones, all the time. */
    async function read(server: ServerProcess, path: string): Promise<void> {
      while (!isOver) await ask(server, path)
    }
    const paths = ['data.php?action=initial_sync', 'data.php?action=delta&cursor=0&wait=1', 'files.php?action=manifest']
    const readers = Promise.all(
      servers.flatMap((server) => paths.map((path) => read(server, `/api/sync/${path}`))),
    ).then(
      () => undefined,
      (error: unknown) => error,
    )
    const work = () =>
      Promise.all(
        servers.map(async (server) => {
          for (let count = 0; count < PUSHES; count += 1) await push(server)
        }),
      )

    const admin = async (unit: (client: pg.Client) => Promise<void>) => {
      const client = new pg.Client(`${cluster.url}/postgres`)
      await client.connect()
      try {
        await unit(client)
      } finally {
        await client.end()
      }
    }

    await work()
    // Every connection of every server is terminated, one after another, while requests are under way on them.
    await admin(async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        'select pid from pg_stat_activity where datname = $1 order by pid',
        [name],
      )
      expect(rows.length).toBeGreaterThan(SERVERS)
      for (const { pid } of rows) {
        const working = Promise.all(servers.map(push))
        await client.query('select pg_terminate_backend($1, 5000)', [pid])
        await working
      }
    })
    await work()

    // The server of Postgres is killed, is away for some requests of every kind, and comes back.
    await cluster.crash()
    for (const server of servers) {
      const ping = await ask(server, '/api/sync/status.php?action=ping')
      expect(ping.status).toBe(200)
      const body = { username: 'ada', password: 'nobody knows' }
      const login = await fetch(`${server.url}/api/login.php`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(login.status).toBe(503)
      await login.arrayBuffer()
    }
    await cluster.start()
    await work()

    // Others take every connection the database has, while the servers need theirs anew.
    const takers: pg.Client[] = []
    const takeAll = async () => {
      for (;;) {
        const taker = new pg.Client(`${database}?application_name=taker`)
        taker.on('error', () => undefined)
        try {
          await taker.connect()
        } catch {
          return
        }
        takers.push(taker)
      }
    }
    await admin(async (client) => {
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name like 'svc %'`
      await takeAll()
      for (let round = 0; round < 3; round += 1) {
        await client.query(cut, [name])
        await takeAll()
      }
      for (const server of servers) await ask(server, '/api/sync/data.php?action=initial_sync')
    })
    await Promise.all(takers.map((taker) => taker.end()))
    await work()

    isOver = true
    expect(await readers).toBeUndefined()
    for (const { process: child, log } of servers)
      expect([child.exitCode, child.signalCode], log()).toEqual([null, null])
    const { json } = await ask(servers[0]!, '/api/sync/data.php?action=initial_sync')
    const { svc_notes: notes } = (json as { data: { svc_notes: { title: string }[] } }).data
    expect(notes.map(({ title }) => title).sort()).toEqual(acknowledged.map(({ title }) => title).sort())
  })
})
