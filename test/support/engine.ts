import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Database } from '../../src/storage/engine/database.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
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
  const url = await databaseAt(server, name)
  const { openPostgres } = await import('../../src/storage/engine/postgres.ts')
  return { env: { SVC_DATABASE: url }, open: () => openPostgres(url), remove: () => dropAt(server, name) }
}
