import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runCommandWith } from '../support/command.ts'
import { patroniPrograms, startPatroni, type PatroniCluster, type PatroniNode } from '../support/patroni.ts'
import { databaseAt } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess, type ServerProcess } from '../support/server-process.ts'

/** How often each fault happens. If it is given, all of them happen, and the times are printed. */
const GIVEN = process.env['FAILOVERS']
const ROUNDS = Number(GIVEN ?? 1)
/** Of the faults, what the test suite has time for. */
const QUICK = ['switchover', 'freeze']
const SERVERS = 2
const WRITERS = 8

/** What happened since the last fault; moments in ms. */
interface Course {
  /** The primary before it; undefined once the database took no write of the test itself. */
  before: PatroniNode | undefined
  /** When it took one again, or another primary did. */
  writable: number | undefined
  /** When each server acknowledged a write after that. */
  resumed: (number | undefined)[]
  /** The longest time until a refusal. */
  refusal: number
}

const newCourse = (before?: PatroniNode): Course => ({
  before,
  writable: undefined,
  resumed: Array.from({ length: SERVERS }, () => undefined),
  refusal: 0,
})

const now = (): number => performance.now()
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function site(cluster: PatroniCluster) {
  const primary = await cluster.healthy()
  await databaseAt(`postgres://svc@${primary.host}`, 'svc')
  const folder = await folderOfTest()
  const keyFile = join(folder, 'secret')
  await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
  const envOf = (place: string) => ({
    HOME: folder,
    SVC_DATA_DIR: join(folder, place),
    SVC_DATABASE: cluster.address('svc'),
    SVC_SECRET_KEY_FILE: keyFile,
    SVC_LIMITS: 'off',
  })
  async function run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runCommandWith(envOf('server-0'), ...args)
    expect(code, stderr).toBe(0)
    return stdout
  }
  const tokens: string[] = []
  for (let index = 0; index < WRITERS / 2; index += 1) {
    await run('user', 'add', `user-${index}`, '--role', index === 0 ? 'admin' : 'user', '--generate')
    const minted = await run('token', 'mint', '--user', `user-${index}`, '--ttl', '1d', '--json')
    tokens.push((JSON.parse(minted) as { token: string }).token)
  }
  const servers: ServerProcess[] = []
  for (let index = 0; index < SERVERS; index += 1) {
    const server = await startServerProcess(envOf(`server-${index}`))
    onTestFinished(() => server.kill())
    servers.push(server)
  }
  return { servers, tokens }
}

/** Writes into another database of the cluster again and again, to know when it can be written. */
function watch(cluster: PatroniCluster, seen: (writable: readonly PatroniNode[]) => void): () => Promise<void> {
  let isOver = false
  async function attempt(node: PatroniNode): Promise<boolean> {
    const connectionString = `postgres://svc@${node.host}/postgres`
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 500, query_timeout: 500 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.query('create table if not exists probe (at int); insert into probe values (1)')
      return true
    } catch {
      return false
    } finally {
      client.end().catch(() => undefined)
    }
  }
  const done = (async () => {
    while (!isOver) {
      const found = await Promise.all(cluster.nodes.map(attempt))
      seen(cluster.nodes.filter((_, index) => found[index]))
      await pause(50)
    }
  })()
  return async () => {
    isOver = true
    await done
  }
}

/** Accounts that write through all servers, again under the same `op_id` after a refusal. */
function startWriters({ servers, tokens }: Awaited<ReturnType<typeof site>>, course: () => Course) {
  const acknowledged: string[][] = tokens.map(() => [])
  let isOver = false

  async function push(server: number, account: number, title: string): Promise<void> {
    const operations = [{ op_id: randomUUID(), operation: 'INSERT', table: 'svc_notes', data: { title } }]
    for (;;) {
      const began = now()
      const response = await fetch(`${servers[server]!.url}/api/sync/data.php?action=push`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens[account]!}`, 'content-type': 'application/json' },
        body: JSON.stringify({ operations }),
      })
      const text = await response.text()
      if (response.status === 503) {
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
        course().refusal = Math.max(course().refusal, now() - began)
        // Sooner than asked for, to know when it works again.
        await pause(50)
        continue
      }
      expect([response.status, text]).toEqual([200, expect.stringContaining('"ok":true')])
      acknowledged[account]!.push(title)
      if (began > (course().writable ?? Infinity)) course().resumed[server] ??= now()
      return
    }
  }
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let count = 0; !isOver; count += 1) {
      await push(writer % SERVERS, Math.floor(writer / SERVERS), `note ${writer}-${count}`)
      await pause(20)
    }
  })
  const ended = Promise.all(writers).then(
    () => undefined,
    (error: unknown) => error,
  )
  return {
    acknowledged,
    /** Returns what a writer stumbled over. */
    stop: () => {
      isOver = true
      return ended
    },
  }
}

/** Each returns what repairs it. */
const faultsOf = (cluster: PatroniCluster): Record<string, (primary: PatroniNode) => Promise<() => unknown>> => ({
  async switchover() {
    await cluster.switchover()
    return () => undefined
  },
  async killPostgres(primary) {
    await primary.killPatroni()
    await primary.killPostgres()
    return () => primary.start()
  },
  async killPatroni(primary) {
    await primary.killPatroni()
    return () => primary.start()
  },
  async freeze(primary) {
    await primary.freeze()
    return () => primary.thaw()
  },
  async etcd() {
    await cluster.stopEtcd()
    await pause(12_000)
    cluster.startEtcd()
    return () => undefined
  },
})

function report(name: string, at: number, { writable = NaN, resumed, refusal }: Course): void {
  const after = resumed.map((moment) => Math.round((moment ?? NaN) - writable)).join(' and ')
  const away = `writable after ${Math.round(writable - at)} ms, written after ${after} ms more`
  console.log(`${name}: ${away}; slowest refusal ${Math.round(refusal)} ms`)
}

describe.skipIf(patroniPrograms === undefined)('two servers whose database Patroni fails over', () => {
  let cluster: PatroniCluster
  beforeAll(async () => {
    cluster = await startPatroni(2)
  })
  afterAll(() => cluster.stop())

  const timeout = 120_000 * (ROUNDS + 1)
  test('lose and repeat nothing, refuse while there is no primary, and go on', { timeout }, async () => {
    const ground = await site(cluster)
    let course = newCourse()
    const writers = startWriters(ground, () => course)
    const stopWatching = watch(cluster, (writable) => {
      if (writable.length === 0) course.before = undefined
      else if (writable.some((node) => node !== course.before)) course.writable ??= now()
    })
    for (const [name, fault] of Object.entries(faultsOf(cluster))) {
      if (GIVEN === undefined && !QUICK.includes(name)) continue
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = await cluster.healthy()
        course = newCourse(before)
        const at = now()
        const repair = await fault(before)
        const isOver = () => course.resumed.every((moment) => moment !== undefined)
        await expect.poll(isOver, { timeout: 100_000, interval: 100 }).toBe(true)
        await repair()
        if (GIVEN !== undefined) report(name, at, course)
      }
    }
    expect(await writers.stop()).toBeUndefined()
    await stopWatching()
    for (const [account, token] of ground.tokens.entries()) {
      const response = await fetch(`${ground.servers[0]!.url}/api/sync/data.php?action=initial_sync`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const { data } = (await response.json()) as { data: { svc_notes: { title: string }[] } }
      expect(data.svc_notes.map(({ title }) => title).sort()).toEqual([...writers.acknowledged[account]!].sort())
    }
  })
})
