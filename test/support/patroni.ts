import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { temporaryRoot } from './folder.ts'
import { freePort, owner, programs as postgres } from './postgres.ts'

// Servers of Postgres that Patroni manages with etcd, on this machine.

const run = promisify(execFile)
const SECONDS = { ttl: 6, loop_wait: 1, retry_timeout: 2 }

const find = (name: string): string | undefined =>
  ['/usr/bin', '/usr/local/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path))

/** The programs, where all of them are installed. */
export const patroniPrograms = (() => {
  const [etcd, patroni] = [find('etcd'), find('patroni')]
  return etcd !== undefined && patroni !== undefined && postgres !== undefined ? { etcd, patroni, postgres } : undefined
})()

export interface PatroniNode {
  name: string
  /** Host and port of its Postgres. */
  host: string
  /** Port of its Patroni. */
  rest: number
  /** Ends Patroni and leaves its Postgres without supervision. */
  killPatroni(): Promise<void>
  /** Ends every process of its Postgres at once; Patroni notices. */
  killPostgres(): Promise<void>
  /** Stops Patroni and Postgres, as a machine that hangs, or lets them go on. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Starts Patroni again. */
  start(): void
}

export interface PatroniCluster {
  nodes: readonly PatroniNode[]
  /** The address of a database on all hosts. */
  address(name: string): string
  /** The node that takes writes; undefined while there is none, or more than one. */
  primary(): Promise<PatroniNode | undefined>
  /** Waits until there is one primary with a synchronous standby. */
  healthy(): Promise<PatroniNode>
  /** Makes another node the primary, as planned by an administrator. */
  switchover(): Promise<void>
  stopEtcd(): Promise<void>
  startEtcd(): void
  stop(): Promise<void>
}

interface Process {
  child: ChildProcess | undefined
}

function launch(command: string, args: string[], cwd: string): ChildProcess {
  const child = spawn(command, args, {
    ...owner,
    cwd,
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: cwd },
  })
  child.on('error', () => undefined)
  return child
}

async function end({ child }: Process, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  child.kill('SIGCONT')
  await exited
}

/** Process IDs of a server of Postgres: the first process and its children. */
async function processesOf(data: string): Promise<number[]> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const first = Number(text.split('\n')[0])
  if (!(first > 0)) return []
  const children = await readFile(`/proc/${first}/task/${first}/children`, 'utf8').catch(() => '')
  return [first, ...children.split(' ').filter(Boolean).map(Number)]
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
}

interface Place {
  name: string
  folder: string
  port: number
  rest: number
  etcd: number
}

/** The configuration of a node; JSON is YAML. */
const configuration = ({ name, folder, port, rest, etcd }: Place): string =>
  JSON.stringify({
    scope: 'svc',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ...SECONDS,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 100, shared_buffers: '32MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
    },
    postgresql: {
      // A node that cannot be rewound is copied from the primary again.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: patroniPrograms!.postgres,
      authentication: { superuser: { username: 'svc' }, replication: { username: 'svc' } },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust', 'local all all trust'],
      parameters: { unix_socket_directories: folder },
    },
  })

function nodeAt(place: Place): PatroniNode & { stop(): Promise<void> } {
  const { name, folder, port, rest } = place
  const data = join(folder, 'data')
  const patroni: Process = { child: undefined }
  const all = async () => [
    ...(patroni.child?.pid === undefined ? [] : [patroni.child.pid]),
    ...(await processesOf(data)),
  ]
  const killPostgres = async () => signal(await processesOf(data), 'SIGKILL')
  return {
    name,
    host: `127.0.0.1:${port}`,
    rest,
    killPatroni: () => end(patroni, 'SIGKILL'),
    killPostgres,
    freeze: async () => signal(await all(), 'SIGSTOP'),
    thaw: async () => signal(await all(), 'SIGCONT'),
    start: () => void (patroni.child = launch(patroniPrograms!.patroni, [join(folder, 'patroni.yml')], folder)),
    async stop() {
      await end(patroni, 'SIGKILL')
      await killPostgres()
    },
  }
}

async function ask<T extends pg.QueryResultRow>(host: string, text: string): Promise<T | undefined> {
  const client = new pg.Client({
    connectionString: `postgres://svc@${host}/postgres`,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<T>(text)).rows[0]
  } catch {
    return undefined
  } finally {
    client.end().catch(() => undefined)
  }
}

async function until<T>(question: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < 1_200; count += 1) {
    const found = await question()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('Patroni did not get there.')
}

/** Starts etcd and so many nodes with synchronous replication. */
export async function startPatroni(count: number): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(await temporaryRoot(), 'svc-patroni-'))
  const own = async (path: string) => {
    await mkdir(path, { recursive: true })
    await chmod(path, 0o700)
    if (owner.uid !== undefined) await chown(path, owner.uid, owner.gid)
  }
  await own(folder)
  const [client, peer] = [await freePort(), await freePort()]
  const urls = { client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` }
  const etcd: Process = { child: undefined }
  const startEtcd = () => {
    const listening = [
      '--listen-client-urls',
      urls.client,
      '--advertise-client-urls',
      urls.client,
      '--listen-peer-urls',
      urls.peer,
    ]
    const first = ['--initial-advertise-peer-urls', urls.peer, '--initial-cluster', `default=${urls.peer}`]
    etcd.child = launch(patroniPrograms!.etcd, ['--data-dir', join(folder, 'etcd'), ...listening, ...first], folder)
  }
  startEtcd()
  const nodes: ReturnType<typeof nodeAt>[] = []
  for (let index = 0; index < count; index += 1) {
    const place = {
      name: `node-${index}`,
      folder: join(folder, `node-${index}`),
      port: await freePort(),
      rest: await freePort(),
      etcd: client,
    }
    await own(place.folder)
    await writeFile(join(place.folder, 'patroni.yml'), configuration(place))
    const node = nodeAt(place)
    nodes.push(node)
    node.start()
  }

  const primary = async (): Promise<PatroniNode | undefined> => {
    const found = await Promise.all(
      nodes.map(({ host }) => ask<{ standby: boolean }>(host, 'select pg_is_in_recovery() as standby')),
    )
    const primaries = nodes.filter((_, index) => found[index]?.standby === false)
    return primaries.length === 1 ? primaries[0] : undefined
  }
  /** Whether Patroni would promote a node because it has every acknowledged write. */
  const isSynchronous = async ({ rest }: (typeof nodes)[number]): Promise<boolean> => {
    const signal = AbortSignal.timeout(2_000)
    const status = await fetch(`http://127.0.0.1:${rest}/sync`, { signal }).then(
      async (response) => (await response.text(), response.status),
      () => 0,
    )
    return status === 200
  }
  const healthy = () =>
    until(async () => {
      const node = await primary()
      const others = nodes.filter((other) => other !== node)
      return node && (await Promise.all(others.map(isSynchronous))).includes(true) ? node : undefined
    })
  return {
    nodes,
    address: (name) => `postgres://svc@${nodes.map(({ host }) => host).join(',')}/${name}`,
    primary,
    healthy,
    async switchover() {
      const before = await healthy()
      const config = join(folder, before.name, 'patroni.yml')
      const env = { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C.UTF-8' }
      // Patroni refuses until it knows that the standby is synchronous.
      await until(async () => {
        const asked = run('patronictl', ['-c', config, 'switchover', '--force', 'svc'], { ...owner, cwd: folder, env })
        const { stdout } = await asked.catch(() => ({ stdout: '' }))
        return stdout.includes('Successfully') || undefined
      })
    },
    stopEtcd: () => end(etcd, 'SIGKILL'),
    startEtcd,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
      await end(etcd, 'SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
