import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { shapes } from '../../src/domain/sync/sync.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { migrate } from '../../src/storage/engine/migrations/migrate.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { ensureTables } from '../../src/storage/engine/synchronised-tables.ts'
import { temporaryFolder } from './folder.ts'
import { databaseAt, dropAt } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Addresses of the Postgres servers, one per worker, that the tests use instead of SQLite. */
    postgres?: string[]
  }
}

/** The database of a data directory, on the engine of this run. */
export interface TestPlace {
  env: Record<string, string>
  open(): Promise<Database>
  remove(): Promise<void>
}

async function makeTables(database: Database): Promise<void> {
  await migrate(database)
  await ensureTables(database, shapes)
}

let emptyFile: Promise<Buffer> | undefined

async function makeEmptyFile(): Promise<Buffer> {
  const folder = await temporaryFolder()
  const database = openSqlite(join(folder, 'svc.db'))
  try {
    await makeTables(database)
    await database.copyTo(join(folder, 'copy.db'), { without: [] })
    return await readFile(join(folder, 'copy.db'))
  } finally {
    await database.close()
    await rm(folder, { recursive: true })
  }
}

/** Gives a new data directory a SQLite database with empty tables: making those takes a third of the start of a server. */
export async function layOut(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, 'svc.db'), await (emptyFile ??= makeEmptyFile()), { mode: 0o600 })
}

const TEMPLATE = 'svc_template'
const templates = new Map<string, Promise<void>>()

/** Makes the database with tables that those of tests are copied from: it takes a second. */
async function makeTemplate(server: string): Promise<void> {
  const { openPostgres } = await import('../../src/storage/engine/postgres.ts')
  const database = await openPostgres(await databaseAt(server, TEMPLATE))
  try {
    await makeTables(database)
  } finally {
    await database.close()
  }
}

export async function databaseFor(dataDir: string): Promise<TestPlace> {
  const servers = inject('postgres')
  if (servers === undefined)
    return {
      env: {},
      open: () => Promise.resolve(openSqlite(join(dataDir, 'svc.db'))),
      remove: () => Promise.resolve(),
    }
  const server = servers[(Number(process.env['VITEST_POOL_ID']) - 1) % servers.length]!
  const name = `svc_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  if (!templates.has(server)) templates.set(server, makeTemplate(server))
  await templates.get(server)
  const url = await databaseAt(server, name, TEMPLATE)
  const { openPostgres } = await import('../../src/storage/engine/postgres.ts')
  return { env: { SVC_DATABASE: url }, open: () => openPostgres(url), remove: () => dropAt(server, name) }
}
