import { mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { errorCode } from '../base/errors.ts'
import { variableOf } from '../domain/instance/options.ts'
import { aloneOnSqlite } from '../storage/engine/sqlite.ts'
import { dataDirectoryPath, partsOf, type DataDirectory } from './installation/data-directory.ts'
import { environment } from './config/environment.ts'
import { assertInstalled, NoDataDirectory } from './installation/installation-check.ts'
import { openLocal, type Local, type LocalOptions } from './local-domain.ts'
import { inspectDatabase } from './installation/lost-database.ts'
import { PLACES } from './installation/storage.ts'

interface InstallationOptions extends Pick<LocalOptions, 'dataDir' | 'startsOver'> {
  create: boolean
  /** Whether the command changes nothing: without an installation, `work` then gets a temporary one. */
  dryRun: boolean
  onCreated?: (path: string) => void
}

/**
 * Runs `work` on the installation of a command line and always closes it. `onCreated` gets the path of an installation
 * that was created where neither the command line nor the environment names one: perhaps another was meant.
 */
export async function onInstallation<T>(
  { dataDir, create, dryRun, startsOver = false, onCreated }: InstallationOptions,
  work: (local: Local) => Promise<T>,
): Promise<T> {
  const open = (options: LocalOptions) => openLocal(options).then((local) => closing(local, work))
  const path = dataDirectoryPath(dataDir, environment)
  if (!create) return open({ dataDir, create: false })
  if (dryRun)
    return assertInstalled(path, environment)
      .then(() => open({ dataDir, create: false }))
      .catch((error: unknown) => {
        if (error instanceof NoDataDirectory) return withTemporaryInstallation(open)
        throw error
      })
  const before = await firstState(path)
  const isNamed = dataDir !== undefined || !!environment['SVC_DATA_DIR']
  try {
    const result = await open({ dataDir, startsOver })
    if (before && !isNamed) onCreated?.(path)
    return result
  } catch (error) {
    if (before && !startsOver) await removeUnused(partsOf(path), before)
    throw error
  }
}

async function closing<T>(local: Local, work: (local: Local) => Promise<T>): Promise<T> {
  try {
    return await work(local)
  } finally {
    await local.close()
  }
}

/** A temporary installation, whatever the configuration of the machine. */
async function withTemporaryInstallation<T>(open: (options: LocalOptions) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-'))
  const env = { ...environment, ...Object.fromEntries(PLACES.map((name) => [variableOf(name), ''])) }
  try {
    return await open({ dataDir: folder, env })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What existed in place of a data directory before an installation was created there. */
interface Before {
  names: Set<string>
  /** Folders that did not exist, innermost first. */
  missing: string[]
}

/** Undefined if there was an installation, or its rows are elsewhere. */
async function firstState(path: string): Promise<Before | undefined> {
  if (environment[variableOf('database')] || (await inspectDatabase(partsOf(path).database)) !== 'missing')
    return undefined
  const missing: string[] = []
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch((error: unknown) => errorCode(error))
    if (found !== 'ENOENT') break
    missing.push(folder)
  }
  const names = missing.length > 0 ? [] : await readdir(path).catch(() => undefined)
  return names && { names: new Set(names), missing }
}

const OWN_NAMES = ['svc.db', 'svc.db-wal', 'svc.db-shm', 'keys', 'blobs', 'tmp', 'config.json']

/** Removes an installation that a failed command created, unless another process has started to use it. */
async function removeUnused(directory: DataDirectory, { names, missing }: Before): Promise<void> {
  const made = OWN_NAMES.filter((name) => !names.has(name))
  const remove = async () => {
    for (const name of made) await rm(join(directory.path, name), { recursive: true, force: true })
  }
  const state = await inspectDatabase(directory.database)
  if (state === 'foreign') return
  if (state !== 'own') await remove()
  else {
    const removed = await aloneOnSqlite(directory.database, async ({ q }) => {
      if (await q.selectFrom('users').select('id').limit(1).executeTakeFirst()) return false
      await remove()
      return true
    }).catch(() => false)
    if (!removed) return
  }
  for (const folder of missing) {
    const isLeft = await rmdir(folder).then(
      () => false,
      () => true,
    )
    if (isLeft) return
  }
}
