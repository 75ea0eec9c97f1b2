import { DamagedBackup, type Manifest } from '../../storage/backups/backup-manifest.ts'
import { assembleDatabase, ownScratch } from '../../storage/backups/scratch.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import { migrate } from '../../storage/engine/migrations/migrate.ts'
import { openSqlite } from '../../storage/engine/sqlite.ts'
import { ensureTables } from '../../storage/engine/synchronised-tables.ts'
import { contentIn, databaseProblems, type JobContext } from '../backups/backups.ts'
import { shapes } from '../sync/sync.ts'

/** The database of a backup, with the schema of this version. */
export interface PastDatabase {
  at: Reader
  /** The bytes of a content, verified. Throws `DamagedBackup`. */
  read(content: { sha256: string; size: number }): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** Copies the database of a backup to the folder `scratch` and opens it. Throws `DamagedBackup`. */
export async function openPastDatabase(
  source: BackupSource,
  manifest: Manifest,
  scratch: string,
  { progress, signal }: JobContext,
): Promise<PastDatabase> {
  const { file, clear } = ownScratch(scratch)
  try {
    progress?.total(manifest.database.size)
    await assembleDatabase(source, manifest, file, (bytes) => {
      signal?.throwIfAborted()
      progress?.add(bytes)
    })
    const problems = await databaseProblems(manifest, undefined, file)
    if (problems.length > 0) throw new DamagedBackup(`This backup cannot be read: ${problems.join('; ')}.`)
    const database = await openUpgraded(file)
    return {
      at: database.read,
      read: (content) => contentIn(database.read, source, content),
      async close() {
        await database.close()
        await clear()
      },
    }
  } catch (error) {
    await clear()
    throw error
  }
}

/** The copy may be from before an upgrade. */
async function openUpgraded(file: string): Promise<Database> {
  const database = openSqlite(file)
  try {
    await migrate(database)
    await ensureTables(database, shapes)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
