import { join } from 'node:path'
import { stat } from 'node:fs/promises'
import { sql } from 'kysely'
import { filesBelow } from '../../support/contents.ts'
import type { TestServer } from '../../support/server.ts'

/** Bytes of contents outside of the database, and of what is arriving. */
export async function blobBytes({ dataDir }: TestServer): Promise<{ stored: number; arriving: number }> {
  const folder = join(dataDir, 'blobs')
  const held = { stored: 0, arriving: 0 }
  for (const path of await filesBelow(folder)) {
    // Or gone since it was listed.
    const size = await stat(join(folder, path)).then(
      (found) => found.size,
      () => 0,
    )
    held[path.startsWith('tmp') ? 'arriving' : 'stored'] += size
  }
  return held
}

/** Bytes of pages of the database that are in use; without its log. */
export async function databaseBytes({ database: { read } }: TestServer): Promise<number> {
  if (read.engine === 'postgres') {
    // Dead rows are room for new ones: whole vacuum is what tells.
    await sql`vacuum full`.execute(read.q)
    const { rows } = await sql<{ size: number }>`select pg_database_size(current_database()) as size`.execute(read.q)
    return Number(rows[0]!.size)
  }
  const pragma = async (name: string) => {
    const { rows } = await sql.raw<Record<string, number>>(`pragma ${name}`).execute(read.q)
    return rows[0]![name]!
  }
  return ((await pragma('page_count')) - (await pragma('freelist_count'))) * (await pragma('page_size'))
}
