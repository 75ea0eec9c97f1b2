import { sql } from 'kysely'
import type { Reader } from '../engine/database.ts'
import { FORMER_USER } from '../accounts/former-user.ts'
import { appliedMigrations } from '../engine/migrations/migrate.ts'
import type { Piece } from './backup-manifest.ts'

/** Figures of a database that can be compared with those of another time. */
export interface Census {
  rows: Record<string, number>
  accounts: number
  /** Live files of accounts and rooms, and their bytes. */
  files: number
  file_bytes: number
  /** Contents in the blob store, by hash. */
  blobs: Piece[]
  server_id: string
  epoch: string
  migrations: string[]
}

const fact = async (on: Reader, key: string): Promise<string> =>
  (await on.q.selectFrom('instance').select('value').where('key', '=', key).executeTakeFirst())?.value ?? ''

/** Counts every table, so it takes time in proportion to the database. */
export async function censusOf(on: Reader): Promise<Census> {
  const rows: Record<string, number> = {}
  const tables = await on.q.introspection.getTables()
  for (const { name } of tables) {
    if (name.startsWith('sqlite_')) continue
    const counted = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(on.q)
    rows[name] = Number(counted.rows[0]!.count)
  }
  const accounts = await on.q
    .selectFrom('users')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('username', '<>', FORMER_USER)
    .executeTakeFirstOrThrow()
  const live = await on.q
    .selectFrom('nodes')
    .select(({ fn }) => [fn.countAll().as('files'), fn.sum<number | string | null>('size').as('bytes')])
    .where('type', '=', 'file')
    .where('trash_id', 'is', null)
    .executeTakeFirstOrThrow()
  return {
    rows,
    accounts: Number(accounts.count),
    files: Number(live.files),
    file_bytes: Number(live.bytes ?? 0),
    blobs: await on.q
      .selectFrom('contents')
      .select(['sha256', 'size'])
      .where('data', 'is', null)
      .orderBy('sha256')
      .execute(),
    server_id: await fact(on, 'server_id'),
    epoch: await fact(on, 'epoch'),
    migrations: await appliedMigrations(on),
  }
}

/** At most `count` contents after the hash `from`, wrapping around. */
export async function someContents(on: Reader, from: string, count: number): Promise<Piece[]> {
  const query = on.q.selectFrom('contents').select(['sha256', 'size']).orderBy('sha256').limit(count)
  const after = await query.where('sha256', '>=', from).execute()
  const before = after.length < count ? await query.where('sha256', '<', from).execute() : []
  return [...after, ...before].slice(0, count)
}
