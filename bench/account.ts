import { openEngine, type SqliteHandle } from '../src/host/sqlite-engine.ts'
import { openLocal } from '../src/wiring/local-domain.ts'
import { startService, type Server } from './server.ts'
import type { Workspace } from './workspace.ts'

/** A data directory with one account and a client signed in to it. */
export interface Account {
  dataDir: string
  database: string
  user: number
  token: string
}

/** The owner of every prepared data directory. */
export const ADA = { username: 'ada', password: 'the analytical engine weaves' }

/** Prepares a data directory. `seed` may insert rows into its database before a server runs. */
export async function makeAccount(
  workspace: Workspace,
  seed?: (database: SqliteHandle, user: number) => void,
): Promise<Account> {
  const dataDir = workspace.folder('data')
  const local = await openLocal({ dataDir, env: {} })
  const { accounts } = local.domain
  const { id: user } = await accounts.create({ ...ADA, role: 'admin' })
  const login = await accounts.login({ ...ADA, device_id: 'bench-0001', device_name: 'Benchmark', ip: '127.0.0.1' })
  await local.close()
  if (!('token' in login)) throw new Error('A new account asks for no second factor.')
  if (seed) await withDatabase(local.directory.database, (database) => seed(database, user))
  return { dataDir, database: local.directory.database, user, token: login.token }
}

/** Opens a database file for the duration of `work`. */
export async function withDatabase<T>(file: string, work: (database: SqliteHandle) => T | Promise<T>): Promise<T> {
  const database = openEngine(file, 5_000)
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

/** Runs `work` while a server serves an account. */
export async function withService<T>(
  workspace: Workspace,
  { dataDir }: Account,
  work: (server: Server) => Promise<T>,
  limits: 'on' | 'off' = 'off',
): Promise<T> {
  const server = await startService(workspace, dataDir, limits)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}
