import { open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { shapes } from '../domain/sync/sync.ts'
import { syncFolder } from '../host/durable-files.ts'
import { makeLockedFolder, removeAbandoned } from '../host/temporary-folder.ts'
import type { Database } from '../storage/engine/database.ts'
import { migrate, pendingMigrations } from '../storage/engine/migrations/migrate.ts'
import { openSqlite } from '../storage/engine/sqlite.ts'
import { ensureTables } from '../storage/engine/synchronised-tables.ts'
import { renewEpoch } from '../storage/instance/restored.ts'
import { dataDirectoryPath, openDataDirectory } from './installation/data-directory.ts'
import { readGiven } from './config/given-config.ts'
import { assertInstalled } from './installation/installation-check.ts'
import { keepsOwnRows, openStorage } from './installation/storage.ts'

/** Of folders in the data directory, in which copies are made. */
const PREFIX = '.upgrade-'

/** The database as it was before the last upgrade. */
const copyIn = (dataDir: string): string => join(dataDir, 'svc.db.before-upgrade')

/**
 * Keeps a copy of a database in the data directory that is about to be migrated. Rows on a database server are not copied. The copy has an
 * epoch of its own: once it is put back, its cursors name other changes than those that clients have seen since.
 */
export async function keepCopy(database: Database, dataDir: string): Promise<void> {
  await removeAbandoned(PREFIX, dataDir)
  if ((await pendingMigrations(database.read)).length === 0) return
  const folder = await makeLockedFolder(PREFIX, dataDir)
  const unfinished = join(folder.path, 'svc.db')
  try {
    await database.copyTo(unfinished, { without: [] })
    const copied = openSqlite(unfinished)
    try {
      await copied.write('instance', renewEpoch)
    } finally {
      await copied.close()
    }
    // Then another process migrated it meanwhile, and kept the copy from before.
    if ((await pendingMigrations(database.read)).length === 0) return
    const file = await open(unfinished, 'r+')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(unfinished, copyIn(dataDir))
    await syncFolder(dataDir)
  } finally {
    await folder.remove()
  }
}

export interface UpgradeTrial {
  data_dir: string
  /** What this version would apply. */
  migrations: string[]
  /** Of a trial on a copy; null where the rows are on a database server. */
  trial: { bytes: number; took_ms: number } | null
  /** The copy that a real upgrade keeps. */
  copy: string | null
}

/** Tries the migrations of this version on a copy of the database; changes nothing. */
export async function tryUpgrade(dataDir: string | undefined, env: NodeJS.ProcessEnv): Promise<UpgradeTrial> {
  const path = dataDirectoryPath(dataDir, env)
  await assertInstalled(path, env)
  const directory = await openDataDirectory(path)
  const given = await readGiven(directory, env)
  const { database, close } = await openStorage(directory, given, env)
  const folder = await makeLockedFolder(PREFIX, path)
  try {
    const migrations = await pendingMigrations(database.read)
    const found = { data_dir: path, migrations, trial: null, copy: null }
    if (migrations.length === 0 || !keepsOwnRows(given)) return found
    const file = join(folder.path, 'svc.db')
    await database.copyTo(file, { without: [] })
    const { size: bytes } = await stat(file)
    const start = performance.now()
    const copied = openSqlite(file)
    try {
      await migrate(copied)
      await ensureTables(copied, shapes)
    } finally {
      await copied.close()
    }
    return { ...found, trial: { bytes, took_ms: Math.round(performance.now() - start) }, copy: copyIn(path) }
  } finally {
    await folder.remove()
    await close()
  }
}
