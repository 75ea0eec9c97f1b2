import { rm } from 'node:fs/promises'
import { afterAll, onTestFinished } from 'vitest'
import type { OptionName } from '../../src/domain/instance/instance.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { storeSetting } from '../../src/storage/instance/settings.ts'
import type { Local } from '../../src/wiring/local-domain.ts'
import type { Program } from '../../src/wiring/backups/scheduled-backups.ts'
import { serve } from '../../src/wiring/server.ts'
import { makeAccount, type Account, type AccountOptions } from './account.ts'
import { makeClock, type TestClock } from './clock.ts'
import { databaseFor, layOut } from './engine.ts'
import { temporaryFolder } from './folder.ts'
import { request, type Reply, type Sent } from './request.ts'

export interface ServerOptions {
  clock?: TestClock
  /** Whether rate limits apply; off by default. */
  limits?: boolean
  /** Whether there is an administrator. */
  administered?: boolean
  flags?: Partial<Record<OptionName, string>>
  /** Additional environment variables. */
  env?: Record<string, string>
  /** An existing data directory, which is kept when the server closes. */
  dataDir?: string
  /** Time of the first upkeep. By default later than any test lasts: its commits would disturb tests. */
  upkeepAfterMs?: number
  /** The same for the search index. */
  indexAfterMs?: number
  /** What stands in for the command in jobs on backups; by default a program that does nothing. */
  program?: Program
}

const IDLE_PROGRAM: Program = { command: process.execPath, args: ['-e', '', '--'], env: {}, every: 86_400_000 }

export { temporaryFolder } from './folder.ts'

export interface TestServer {
  url: string
  dataDir: string
  /** Environment with which another process opens the same installation. */
  env: Record<string, string>
  local: Local
  clock: TestClock
  /** The database as opened by another process. */
  database: Database
  /** An account with a device token; it has no valid password, because hashing is slow. */
  account(options?: AccountOptions): Promise<Account>
  send(path: string, sent?: Sent): Promise<Reply>
  /** Stores a setting like the command of an administrator in another process. */
  set(name: OptionName | '#maintenance', value: unknown): Promise<void>
  close(): Promise<void>
}

const SETTINGS_HOLD_MS = 10

/** Waits until servers have noticed settings of another process, which they cache for some milliseconds. */
export const settingsNoticed = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTINGS_HOLD_MS))

/** A temporary folder, removed with the test. */
export async function folderOfTest(): Promise<string> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The same for all tests of a file. */
export async function folderOfFile(): Promise<string> {
  const folder = await temporaryFolder()
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a server on a free port with its own data directory; the caller closes it. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { clock = makeClock(), limits = false, administered = true, flags = {}, upkeepAfterMs = 86_400_000 } = options
  const { indexAfterMs = 86_400_000 } = options
  const dataDir = options.dataDir ?? (await temporaryFolder())
  const place = await databaseFor(dataDir)
  const env = { SVC_LIMITS: limits ? '' : 'off', SVC_PORT: '0', ...place.env, ...options.env }
  if (options.dataDir === undefined && !('SVC_DATABASE' in env)) await layOut(dataDir)
  const { program = IDLE_PROGRAM } = options
  const more = { program, log: false, upkeepAfterMs, indexAfterMs }
  const { url, local, close } = await serve({ dataDir, env, flags, clock, ...more })
  const database = await place.open()
  const site = { url, database, clock }
  if (administered && !(await local.domain.instance.isSetUp())) await makeAccount(site, { role: 'admin' })
  return {
    url,
    dataDir,
    env: place.env,
    local,
    clock,
    database,
    account: (wanted) => makeAccount(site, wanted),
    send: (path, sent) => request(url, path, sent),
    async set(name, value) {
      await database.write('instance', (tx) =>
        storeSetting(tx, name, value === undefined ? undefined : JSON.stringify(value)),
      )
      await settingsNoticed()
    },
    async close() {
      await close()
      await database.close()
      if (options.dataDir !== undefined) return
      await place.remove()
      await rm(dataDir, { recursive: true })
    },
  }
}

/** The same for all tests of a file; call it at the top level. */
export async function serverOfFile(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options)
  afterAll(() => server.close())
  return server
}

/** The same for one test, which closes it. */
export async function serverOfTest(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options)
  onTestFinished(() => server.close())
  return server
}
