import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { DAY, SECOND } from '../src/base/clock.ts'
import { openLocal } from '../src/wiring/local-domain.ts'
import { programs, startPostgres } from '../test/support/postgres.ts'
import { openConnection, requestTo } from './connection.ts'
import { median, type Figure } from './figure.ts'
import { noteOf } from './samples.ts'
import { startService } from './server.ts'
import type { Workspace } from './workspace.ts'

const CLIENTS = 16
const COUNTS = [1, 2, 4]
const ROUNDS = 3
const SECONDS = 3
const WARM_UP = 2
/** What a commit costs at least, as with a standby that it waits for; µs. */
const COMMIT_US = 2_000

/** The rows of one change, as svc writes them; `pgbench` runs it for a random account. */
const SCRIPT = `\\set user random(:first, :first + ${CLIENTS - 1})
begin;
update counters set seq = seq + 1 where user_id = :user returning seq \\gset
insert into svc_notes (user_id, version, created_at, updated_at, title, content, category, pinned, color)
  values (:user, 1, '2026-01-01', '2026-01-01', 'a note', repeat('words ', 20), 'work', 0, 'red') returning id \\gset
insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at) values (:user, 'svc_notes', :id, :seq, :seq, 0, 1);
insert into data_usage (user_id, kind, items, bytes) values (:user, 'rows', 1, 300)
  on conflict (user_id, kind) do update set items = data_usage.items + 1, bytes = data_usage.bytes + 300;
commit;
`

interface Ground {
  url: string
  env: NodeJS.ProcessEnv
  tokens: string[]
  first: number
}

/** A database whose commits take time, with an account for each client. */
async function prepare(workspace: Workspace, cluster: Awaited<ReturnType<typeof startPostgres>>): Promise<Ground> {
  const admin = new pg.Client(`${cluster.url}/postgres`)
  await admin.connect()
  const settings = { max_connections: 120, commit_delay: COMMIT_US, commit_siblings: 0, autovacuum: 'on' }
  for (const [name, value] of Object.entries(settings)) await admin.query(`alter system set ${name} = ${value}`)
  await admin.end()
  await cluster.crash()
  await cluster.start()
  const url = await cluster.database('svc')
  const keyFile = join(workspace.folder('key'), 'secret.key')
  writeFileSync(keyFile, 'ab'.repeat(32), { mode: 0o600 })
  const env = { SVC_DATABASE: url, SVC_SECRET_KEY_FILE: keyFile }
  const local = await openLocal({ dataDir: workspace.folder('data'), env })
  const { accounts } = local.domain
  const tokens: string[] = []
  const ids: number[] = []
  for (let index = 0; index < CLIENTS; index += 1) {
    const { id } = await accounts.create({
      username: `user-${index}`,
      password: 'the analytical engine weaves',
      role: 'admin',
    })
    ids.push(id)
    tokens.push((await accounts.mintToken(id, { ttl: DAY })).token)
  }
  await local.close()
  return { url, env, tokens, first: Math.min(...ids) }
}

/** Changes per second of all clients, each of which sends the next one when the last is acknowledged. */
async function pushThrough(urls: readonly string[], tokens: readonly string[], seconds: number): Promise<number> {
  const end = performance.now() + seconds * SECOND
  let count = 0
  await Promise.all(
    tokens.map(async (token, index) => {
      const url = urls[index % urls.length]!
      const connection = await openConnection(url)
      const operations = [{ table: 'svc_notes', operation: 'INSERT', data: noteOf(index) }]
      const body = Buffer.from(JSON.stringify({ operations }))
      const path = '/api/sync/data.php?action=push'
      const request = requestTo(url, { method: 'POST', path, token, type: 'application/json', body })
      while (performance.now() < end) {
        await connection.ask(request)
        count += 1
      }
      connection.close()
    }),
  )
  return count / seconds
}

/** Transactions per second of as many connections of pgbench. */
async function pgbench(folder: string, { url, first }: Ground): Promise<number> {
  const script = join(folder, 'change.sql')
  writeFileSync(script, SCRIPT)
  const args = ['-n', '-c', `${CLIENTS}`, '-j', '2', '-T', `${SECONDS}`, '-D', `first=${first}`, '-f', script, url]
  const { stdout } = await promisify(execFile)(join(programs!, 'pgbench'), args)
  return Number(/tps = ([\d.]+)/.exec(stdout)![1])
}

/** Writing for different accounts through several servers on one Postgres. */
export const severalServers: Figure = {
  name: 'several-servers',
  unit: 'changes/s',
  peer: `pgbench with the same rows, ${CLIENTS} connections, commits of ${COMMIT_US / 1_000} ms`,
  wanted: { least: 0.5 },
  missing: () => (programs === undefined ? 'PostgreSQL is not installed' : undefined),
  async measure(workspace) {
    const cluster = await startPostgres()
    try {
      const ground = await prepare(workspace, cluster)
      const rates = new Map<number, number[]>(COUNTS.map((count) => [count, []]))
      const peer: number[] = []
      const dataDirs = COUNTS.map(() => workspace.folder('server')).concat(workspace.folder('server'))
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const count of COUNTS) {
          const started = dataDirs.slice(0, count).map((dataDir) => startService(workspace, dataDir, 'off', ground.env))
          const servers = await Promise.all(started)
          const urls = servers.map(({ url }) => url)
          // Fresh processes are slow.
          await pushThrough(urls, ground.tokens, WARM_UP)
          rates.get(count)!.push(await pushThrough(urls, ground.tokens, SECONDS))
          await Promise.all(servers.map((server) => server.stop()))
        }
        peer.push(await pgbench(workspace.folder('pgbench'), ground))
      }
      const shown = COUNTS.map((count) => `${count}: ${Math.round(median(rates.get(count)!))}`)
      return { ours: rates.get(4)!, peer, note: `servers: changes/s, ${shown.join(', ')}` }
    } finally {
      await cluster.stop()
    }
  },
}
