import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { sessionLogin2fa } from '../../src/contract/session.ts'
import { clientOf, clientWith } from '../support/account.ts'
import { runCommandWith } from '../support/command.ts'
import { cutListening, freshName, listeningAt, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { folderOfTest } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

const MAX = 30

describe.skipIf(programs === undefined)('servers on one database', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  /** Servers of the built command, and a device token. */
  async function site(count: number) {
    const folder = await folderOfTest()
    const url = await cluster.database(freshName())
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const env = {
      HOME: folder,
      SVC_DATA_DIR: join(folder, 'server'),
      SVC_DATABASE: url,
      SVC_SECRET_KEY_FILE: keyFile,
      SVC_LIMITS_SYNC_MKDIR: String(MAX),
      SVC_LIMITS_ANONYMOUS: String(MAX),
    }
    const run = async (...args: string[]) => (await runCommandWith(env, ...args)).stdout
    await run('user', 'add', 'ada', '--role', 'admin', '--generate')
    const mint = async () => {
      const minted = await run('token', 'mint', '--user', 'ada', '--ttl', '1h', '--json')
      return (JSON.parse(minted) as { token: string }).token
    }
    async function start(index: number) {
      const server = await startServerProcess({ ...env, SVC_DATA_DIR: join(folder, `server-${index}`) })
      onTestFinished(() => server.kill())
      return server
    }
    const servers = await Promise.all(Array.from({ length: count }, (_, index) => start(index)))
    const client = new pg.Client(url)
    await client.connect()
    onTestFinished(() => client.end())
    return { url, servers, mint, start, client }
  }

  const { mkdir } = syncFiles.actions
  /** A request of a device; returns whether it passed the limit. */
  const use = async (server: { url: string }, token: string): Promise<boolean> =>
    (await clientOf(server.url, token).call(mkdir, { path: '/same' })).status !== 429
  /** One of an address. */
  const ask = async (server: { url: string }): Promise<boolean> =>
    (await clientWith(server.url).call(sessionLogin2fa.actions.login_2fa, { totp_code: '123456' })).status !== 429

  /** Sends until one is refused. Returns how many passed. */
  async function passedBy(send: () => Promise<boolean>, pause = 0): Promise<number> {
    for (let passed = 0; passed <= MAX; passed += 1) {
      if (!(await send())) return passed
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    return MAX + 1
  }

  test('count together', { timeout: 60_000 }, async () => {
    const count = 3
    const { url, servers, mint } = await site(count)
    const [token, other] = [await mint(), await mint()]
    // They listen from the first request on that counts.
    for (const server of servers) await use(server, other)
    await expect.poll(() => listeningAt(url)).toBe(count)
    for (const send of [ask, (server: { url: string }) => use(server, token)]) {
      const [first, ...others] = servers
      expect(await passedBy(() => send(first!))).toBe(MAX)
      // Some may pass before the message arrives, but not a limit of its own.
      for (const server of others) expect(await passedBy(() => send(server), 100)).toBeLessThan(MAX)
    }
    // Another device of the account has its own limit.
    expect(await use(servers[0]!, other)).toBe(true)
  })

  test(
    'count on after a lost connection, a killed server and messages that are none',
    { timeout: 60_000 },
    async () => {
      const { url, servers, mint, start, client } = await site(2)
      const [token, other] = [await mint(), await mint()]
      for (const server of servers) await use(server, other)
      await expect.poll(() => listeningAt(url)).toBe(2)
      const garbage = ['', ' ', 'x', 'x y', '1 2 3', 'a 1 aaaaaaaaaaaa.1', `a ${'z '.repeat(3_900)}`, 'ä'.repeat(3_900)]
      for (const payload of garbage) await client.query('select pg_notify($1, $2)', ['svc_peers', payload])
      await cutListening(url)
      await expect.poll(() => listeningAt(url)).toBe(2)
      expect(await passedBy(() => use(servers[0]!, token))).toBe(MAX)
      expect(await passedBy(() => use(servers[1]!, token), 100)).toBeLessThan(MAX)
      // What it told still counts.
      await servers[0]!.kill()
      expect(await use(servers[1]!, token)).toBe(false)
      // One that starts later does not know of it; both count together from then on.
      const third = await start(3)
      await use(third, other)
      await expect.poll(() => listeningAt(url)).toBe(2)
      const fresh = await mint()
      expect(await passedBy(() => use(third, fresh))).toBe(MAX)
      expect(await passedBy(() => use(servers[1]!, fresh), 100)).toBeLessThan(MAX)
    },
  )
})
