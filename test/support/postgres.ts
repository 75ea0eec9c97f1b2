import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { randomHex } from '../../src/base/random.ts'
import { temporaryRoot } from './folder.ts'

const run = promisify(execFile)

/** A Postgres server of the tests, with nothing in it. */
export interface Cluster {
  /** Its address, without a database. */
  url: string
  /** The address of a database, made when it is not there. */
  database(name: string): Promise<string>
  /** The server as it is after a crash, and as it is after the start that follows. */
  crash(): Promise<void>
  start(): Promise<void>
  /** Starts it as a standby, which follows nobody until it is promoted (`pg_promote`). */
  startStandby(): Promise<void>
  stop(): Promise<void>
}

/** Where Debian and others install the programs of the server. */
function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), '/usr/local/bin', '/usr/bin']
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

export const programs = findPrograms()

// The server refuses to run as root; any other user does.
const NOBODY = 65_534
const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Answers the address of a database of a running server, making it when it is not there. */
export async function databaseAt(server: string, name: string): Promise<string> {
  const client = new pg.Client(`${server}/postgres`)
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name} template template0 encoding 'UTF8'`)
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

/** How many connections listen at a database. */
export const listeningAt = (url: string): Promise<number> => count(url, `select pid ${LISTENING}`)

/** Ends those, as a network or a restart does; returns how many they were. */
export const cutListening = (url: string): Promise<number> =>
  count(url, `select pg_terminate_backend(pid, 5000) ${LISTENING}`)

/** Starts a server in a folder of its own, in memory where the system offers some. */
export async function startPostgres(): Promise<Cluster> {
  const bin = programs!
  const folder = await mkdtemp(join(await temporaryRoot(), 'svc-pg-'))
  if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  const locale = ['--encoding=UTF8', '--no-locale', '--username=svc', '--auth=trust', '--no-sync']
  await run(join(bin, 'initdb'), [`--pgdata=${data}`, ...locale], { ...owner, cwd: folder })
  const port = await freePort()
  // Small, and commits as durable as anywhere; tests ask which was the last.
  const settings = { listen_addresses: "'127.0.0.1'", port, unix_socket_directories: "''", shared_buffers: "'32MB'" }
  const lines = Object.entries({ ...settings, max_connections: 60, track_commit_timestamp: 'on', autovacuum: 'off' })
  await writeFile(join(data, 'postgresql.auto.conf'), lines.map(([name, value]) => `${name} = ${value}\n`).join(''))

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
    // "Immediate": without a checkpoint, as with a power cut of the server.
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

/** A name for a database that nobody else takes. */
export const freshName = (): string => `svc_${randomHex(8)}`
