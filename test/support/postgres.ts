import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { randomHex } from '../../src/base/random.ts'
import { temporaryRoot } from './folder.ts'

const run = promisify(execFile)

/** An empty Postgres server. */
export interface Cluster {
  /** Its address without a database. */
  url: string
  /** The address of a database, which is created if necessary. */
  database(name: string): Promise<string>
  /** Crashes the server and starts it again. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Starts it as a standby without a primary, until it is promoted (`pg_promote`). */
  startStandby(): Promise<void>
  stop(): Promise<void>
}

/** The folder of the server's programs, on Debian and elsewhere. */
function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), '/usr/local/bin', '/usr/bin']
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

export const programs = findPrograms()

// The server refuses to run as root; any other user will do.
const NOBODY = 65_534
export const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** The address of a database of a running server, which is created if necessary, as a copy of another one. */
export async function databaseAt(server: string, name: string, template = 'template0'): Promise<string> {
  const client = new pg.Client(`${server}/postgres`)
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name} template ${template} encoding 'UTF8'`)
  } finally {
    await client.end()
  }
  return `${server}/${name}`
}

export async function dropAt(server: string, name: string): Promise<void> {
  const client = new pg.Client(`${server}/postgres`)
  await client.connect()
  try {
    await client.query(`drop database if exists ${name} with (force)`)
  } finally {
    await client.end()
  }
}

async function count(url: string, question: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(question)).rows.length
  } finally {
    await client.end()
  }
}

const LISTENING = `from pg_stat_activity where datname = current_database() and query like 'listen %'`

/** Number of listening connections of a database. */
export const listeningAt = (url: string): Promise<number> => count(url, `select pid ${LISTENING}`)

/** Terminates them, like a network failure; returns their number. */
export const cutListening = (url: string): Promise<number> =>
  count(url, `select pg_terminate_backend(pid, 5000) ${LISTENING}`)

/** Starts a server in its own folder, in memory if possible; as a standby of `primary` with a copy of it. */
export async function startPostgres(primary?: Cluster): Promise<Cluster> {
  const bin = programs!
  const folder = await mkdtemp(join(await temporaryRoot(), 'svc-pg-'))
  if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  if (primary) {
    const copy = [`--pgdata=${data}`, `--dbname=${primary.url}/postgres`, '--write-recovery-conf', '--checkpoint=fast']
    await run(join(bin, 'pg_basebackup'), [...copy, '--no-sync'], { ...owner, cwd: folder })
  } else {
    const locale = ['--encoding=UTF8', '--no-locale', '--username=svc', '--auth=trust', '--no-sync']
    await run(join(bin, 'initdb'), [`--pgdata=${data}`, ...locale], { ...owner, cwd: folder })
  }
  const port = await freePort()
  // Small, but with fully durable commits.
  const settings = { listen_addresses: "'127.0.0.1'", port, unix_socket_directories: "''", shared_buffers: "'32MB'" }
  const lines = Object.entries({ ...settings, max_connections: 60, track_commit_timestamp: 'on', autovacuum: 'off' })
  const text = lines.map(([name, value]) => `${name} = ${value}\n`).join('')
  await appendFile(join(data, 'postgresql.auto.conf'), text)

  const url = `postgres://svc@127.0.0.1:${port}`
  let server: ReturnType<typeof spawn> | undefined
  async function start(): Promise<void> {
    const started = spawn(join(bin, 'postgres'), ['-D', data], {
      ...owner,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    server = started
    let said = ''
    await new Promise<void>((resolve, reject) => {
      started.once('exit', () => reject(new Error(said)))
      started.stderr.on('data', (text: Buffer) => {
        said += text.toString()
        if (said.includes('ready to accept')) resolve()
      })
    })
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  await start()
  return {
    url,
    database: (name) => databaseAt(url, name),
    // "Immediate": without a checkpoint, like a power cut.
    crash: () => end('SIGQUIT'),
    start,
    async startStandby() {
      await writeFile(join(data, 'standby.signal'), '', { mode: 0o644 })
      await start()
    },
    async stop() {
      await end('SIGINT')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A unique name for a database. */
export const freshName = (): string => `svc_${randomHex(8)}`
