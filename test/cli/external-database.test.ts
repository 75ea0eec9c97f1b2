import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ended, runCommandWith, startCommandWith } from '../support/command.ts'
import { bytesOf } from '../support/contents.ts'
import { lineOfTest } from '../support/line.ts'
import { startServeWith } from '../support/outside.ts'
import { freshName, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'

// Rows that are on a database server, and rows that were moved away from one.

const SMALL = bytesOf(100, 1)

describe.skipIf(programs === undefined)('rows on a database server', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  /** A new installation in a database, with one account, and commands of a machine that has its own data directory. */
  async function installation() {
    const folder = await folderOfTest()
    const url = await cluster.database(freshName())
    const secret = join(folder, 'secret.key')
    await writeFile(secret, 'ab'.repeat(32), { mode: 0o600 })
    const machine = (name: string, address: string | undefined) => {
      const dataDir = join(folder, name)
      const env = {
        HOME: folder,
        SVC_DATA_DIR: dataDir,
        SVC_SECRET_KEY_FILE: secret,
        ...(address !== undefined && { SVC_DATABASE: address }),
      }
      return {
        dataDir,
        env,
        svc: (...args: string[]) => runCommandWith(env, ...args),
        async serve() {
          const server = await startServeWith(env)
          onTestFinished(() => void server.process.kill('SIGKILL'))
          return server
        },
      }
    }
    const first = machine('first', url)
    await first.svc('init')
    expect(await first.svc('user', 'add', 'ada', '--role', 'admin', '--generate')).toMatchObject({ code: 0 })
    return { folder, url, machine, first }
  }

  const markedAs = async (url: string, place: string) => {
    const client = new pg.Client(url)
    await client.connect()
    await client.query("insert into instance (key, value) values ('moved', $1)", [place])
    await client.end()
  }

  const names = async ({ svc }: { svc: (...args: string[]) => Promise<{ stdout: string }> }) =>
    (JSON.parse((await svc('user', 'list', '--json')).stdout) as { username: string }[]).map(({ username }) => username)

  test('a server that had no connection while they moved away acknowledges nothing afterwards, and says where they are', async () => {
    const { url, machine, first } = await installation()
    const line = await lineOfTest(url.replace('postgres:', 'http:'))
    const second = machine('second', url.replace(new URL(url).host, new URL(line.url).host))
    const server = await second.serve()
    const { stdout: token } = await first.svc('token', 'mint', '--user', 'ada')
    const upload = () =>
      fetch(`${server.url}/api/sync/files.php?action=upload&path=/a.bin`, {
        method: 'POST',
        body: SMALL,
        headers: { authorization: `Bearer ${token.trim()}` },
      }).then(({ status }) => status)
    expect(await upload()).toBe(200)

    line.silence()
    line.cut()
    const place = `${join(first.dataDir, 'svc.db')} on ${hostname()}`
    const moved = await first.svc('storage', 'migrate', '--to', 'sqlite:')
    expect([moved.code, moved.stdout]).toEqual([3, expect.stringMatching(/^Every row has moved\./)])
    line.restore()

    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503)
    await expect.poll(upload).toBe(503)
    const said = server
      .stderr()
      .split('\n')
      .filter((entry) => entry.includes(`were moved to ${place}`))
    expect(said.map((entry) => (JSON.parse(entry) as { level: number }).level)).toEqual([50])
    expect(await server.end()).toBe(0)
    // Nor does any other that is started on them.
    for (const { svc } of [second, first])
      expect(await svc('user', 'list')).toMatchObject({ code: 8, stderr: expect.stringContaining(place) as string })
    const here = machine('first', undefined)
    expect(await names(here)).toEqual(['ada'])
  })

  test('that falls silent refuses requests of every kind, long before TCP gives up, and serves them when it answers', async () => {
    const { url, machine, first } = await installation()
    const line = await lineOfTest(url.replace('postgres:', 'http:'))
    const server = await machine('second', url.replace(new URL(url).host, new URL(line.url).host)).serve()
    const { stdout: token } = await first.svc('token', 'mint', '--user', 'ada')
    const headers = { authorization: `Bearer ${token.trim()}` }
    /** Promised within ten seconds; a busy machine has three times as many, and TCP would take fifteen minutes. */
    const ask = async (path: string, init: RequestInit = {}) => {
      const reply = await fetch(`${server.url}${path}`, { headers, ...init, signal: AbortSignal.timeout(30_000) })
      await reply.arrayBuffer()
      return [path, reply.status, reply.headers.get('retry-after') !== null]
    }
    const login = JSON.stringify({ username: 'ada', password: 'nobody knows' })
    const json = { 'content-type': 'application/json' }
    const requests = (): Promise<unknown[]>[] => [
      ask('/api/sync/files.php?action=upload&path=/a.bin', { method: 'POST', body: SMALL }),
      ask('/api/sync/files.php?action=manifest'),
      ask('/api/sync/data.php?action=delta&cursor=0'),
      ask('/api/login.php', { method: 'POST', body: login, headers: json }),
    ]
    const refused = async () => {
      for (const reply of await Promise.all(requests())) expect(reply.slice(1)).toEqual([503, true])
      expect(await ask('/readyz')).toEqual(['/readyz', 503, expect.anything()])
    }
    const statuses = async () => (await Promise.all(requests())).map(([, status]) => status)
    expect(await statuses()).toEqual([200, 200, 200, 401])

    // First those on open connections, then those that need a new one.
    line.silence()
    await refused()
    await refused()
    line.restore()
    await expect.poll(statuses).toEqual([200, 200, 200, 401])
    expect((await ask('/readyz'))[1]).toBe(200)
  })

  test('a stream of its changes is refused, and the tools of Postgres are named', async () => {
    const { folder, first } = await installation()
    const to = join(folder, 'streamed')
    const { code, stderr } = await first.svc('backup', 'stream', '--to', to)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^svc: The rows are in Postgres, .*pg_receivewal/)])
    expect(await readdir(folder)).not.toContain('streamed')
  })

  test('a command that is not told of the database server begins no other installation, unless it is asked to', async () => {
    const { folder, url, machine, first } = await installation()
    const untold = machine('first', undefined)
    const place = url.replace(/\/\/[^@/]*@/, '//')
    for (const args of [
      ['serve', '--port', '0'],
      ['init'],
      ['user', 'add', 'eve', '--generate'],
      ['backup', 'create', '--to', join(folder, 'backups')],
      ['doctor'],
    ]) {
      const { code, stdout, stderr } = await untold.svc(...args)
      expect([args[0], code]).toEqual([args[0], 8])
      expect(stdout + stderr).toContain(`are in ${place}`)
      expect(stdout + stderr).toContain('SVC_DATABASE')
    }
    // Neither does one that is told of an empty one.
    const empty = machine('first', await cluster.database(freshName()))
    expect(await empty.svc('init')).toMatchObject({ code: 8, stderr: expect.stringContaining(place) as string })
    // Nor one whose data directory holds contents of rows that nobody knows.
    const lost = machine('lost', await cluster.database(freshName()))
    await mkdir(join(lost.dataDir, 'blobs', 'ab'), { recursive: true })
    const refused = { code: 8, stderr: expect.stringContaining('the database in the settings is empty') as string }
    expect(await lost.svc('init')).toMatchObject(refused)
    expect(await names(first)).toEqual(['ada'])

    expect(await untold.svc('init', '--new', '--admin', 'root', '--generate')).toMatchObject({ code: 0 })
    expect(await names(untold)).toEqual(['root'])
  })

  test('a move back that was interrupted is completed by the next one', async () => {
    for (const hasArrived of [false, true]) {
      const { url, machine, first } = await installation()
      const database = join(first.dataDir, 'svc.db')
      if (hasArrived) {
        expect(await first.svc('storage', 'migrate', '--to', 'sqlite:')).toMatchObject({ code: 3 })
      } else {
        await markedAs(url, `${database} on ${hostname()}`)
        await writeFile(`${database}.arriving`, 'half')
      }
      expect(await first.svc('user', 'list')).toMatchObject({
        code: 8,
        stderr: expect.stringContaining('svc storage migrate --to sqlite:') as string,
      })
      expect(await first.svc('storage', 'migrate', '--to', 'sqlite:')).toMatchObject({ code: 3 })
      expect(await names(machine('first', undefined))).toEqual(['ada'])
    }
  })

  test('a move there that is killed between its last steps has happened, and the next run says so', async () => {
    const { folder, machine, first } = await installation()
    await first.svc('storage', 'migrate', '--to', 'sqlite:')
    const here = machine('first', undefined)
    const preload = join(folder, 'killed-at-second-rename.mjs')
    await writeFile(
      preload,
      `import fs from 'node:fs/promises'
      import { syncBuiltinESMExports } from 'node:module'
      const { rename } = fs
      let renamed = 0
      fs.rename = (...args) => (++renamed === 2 ? process.kill(process.pid, 'SIGKILL') : rename(...args))
      syncBuiltinESMExports()`,
    )
    const move = ['storage', 'migrate', '--to', await cluster.database(freshName())]
    const child = startCommandWith({ ...here.env, NODE_OPTIONS: `--import=${preload}` }, ...move)
    expect((await ended(child)).code).toBe(null)
    expect(await names(here)).toEqual(['ada'])
    expect(await here.svc(...move)).toMatchObject({ code: 6, stderr: 'svc: The rows are already there.\n' })
  })

  test('doctor compares the clock with that of the database server, and does without the database what it can', async () => {
    const { folder, url, first } = await installation()
    const preload = join(folder, 'a-minute-ahead.mjs')
    await writeFile(preload, 'const { now } = Date\nDate.now = () => now() + 60_000\n')
    const checksOf = async (env: NodeJS.ProcessEnv) => {
      // A process of its own, for options of Node.
      const { code, stdout } = await ended(startCommandWith({ ...first.env, ...env }, 'doctor', '--json'))
      const { checks } = JSON.parse(stdout) as { checks: { id: string; health: string; found: string }[] }
      return { code, of: (id: string) => checks.find((check) => check.id === id) }
    }
    const right = await checksOf({})
    expect(right.of('clock')).toMatchObject({ health: 'ok' })
    const ahead = await checksOf({ NODE_OPTIONS: `--import=${preload}` })
    expect(ahead.of('clock')).toMatchObject({
      health: 'warning',
      found: 'this clock differs by 60 s from that of the database server',
    })

    const away = await checksOf({ SVC_DATABASE: url.replace(/:\d+\//, ':9/') })
    expect(away.code).toBe(1)
    expect(away.of('data-directory')).toMatchObject({ health: 'failure' })
    expect(away.of('file-modes')).toMatchObject({ health: 'ok' })
    expect(away.of('disk-space')).toBeDefined()
    expect(away.of('database')).toBeUndefined()
  })

  test('a move to a database that an interrupted one has filled says what to do, and changes nothing', async () => {
    const { url, machine, first } = await installation()
    await first.svc('storage', 'migrate', '--to', 'sqlite:')
    const here = machine('first', undefined)
    const again = await here.svc('storage', 'migrate', '--to', url)
    expect(again).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/already has rows of this installation.*createdb/) as string,
    })
    expect(await names(here)).toEqual(['ada'])
  })
})
