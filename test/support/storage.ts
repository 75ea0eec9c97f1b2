import { join } from 'node:path'
import { CompiledQuery, type RootOperationNode } from 'kysely'
import { onTestFinished } from 'vitest'
import { shapes } from '../../src/domain/sync/sync.ts'
import { insertAccount } from '../../src/storage/accounts/accounts.ts'
import type { Database, Reader } from '../../src/storage/engine/database.ts'
import { migrate } from '../../src/storage/engine/migrations/migrate.ts'
import { ensureTables } from '../../src/storage/engine/synchronised-tables.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { folderOfTest } from './server.ts'

/** Opens a database file for one test; several calls act like several processes. */
export function openForTest(file: string): Database {
  const database = openSqlite(file)
  onTestFinished(() => database.close())
  return database
}

/** A database file with all tables and one account. */
export async function databaseOfTest(): Promise<{ database: Database; file: string; user: number }> {
  const file = join(await folderOfTest(), 'svc.db')
  const database = openForTest(file)
  await migrate(database)
  await ensureTables(database, shapes)
  return { database, file, user: await addUser(database, 'ada') }
}

/** SQLite's query plans for the queries of `work`. */
export async function plansOf({ read }: Database, work: (on: Reader) => Promise<unknown>): Promise<string[]> {
  const nodes: RootOperationNode[] = []
  const q = read.q.withPlugin({
    transformQuery: ({ node }) => (nodes.push(node), node),
    transformResult: ({ result }) => Promise.resolve(result),
  })
  await work({ engine: 'sqlite', q, run: (query) => read.run(query) })
  const plans: string[] = []
  for (const node of nodes) {
    const { sql, parameters } = read.q.getExecutor().compileQuery(node, { queryId: 'plan' })
    const { rows } = await read.q.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    )
    plans.push(rows.map(({ detail }) => detail).join('; '))
  }
  return plans
}

export async function addUser(database: Database, username: string): Promise<number> {
  const shown = { display_name: username, avatar_color: '#336699' }
  const account = { username, ...shown, role: 'user' as const, password_hash: '-', quota_bytes: null }
  return (await database.write('instance', (tx) => insertAccount(tx, account, 1_000)))!
}
