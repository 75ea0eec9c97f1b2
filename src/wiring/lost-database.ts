import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../base/errors.ts'
import { variableOf } from '../domain/instance/options.ts'
import { syncFolder } from '../host/durable.ts'
import { openCopyFile, type SqliteHandle } from '../host/sqlite-engine.ts'
import type { DataDirectory } from './data-directory.ts'

// An empty database beside the keys and contents of an installation would take every content for garbage. So whoever opens
// a data directory compares what it holds with what its database is, before anything is created.

/** The database of an installation is gone or is another one; the message says how to bring it back. */
export class LostDatabase extends Error {
  override name = 'LostDatabase'
  readonly exitCode = 8
  readonly reason = 'database_lost'
}

/** The file of a secret key whose installation has no rows yet. */
export const PENDING_KEY = 'secret.key.new'

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return []
    throw error
  })

/** What a data directory holds that only an installation leaves there, in words; empty for one that was never used. */
export async function remainsOf({ path, blobs }: DataDirectory): Promise<string[]> {
  // Hidden files are being written at this moment, or were when a process died.
  const hasKeys = (await namesIn(join(path, 'keys'))).some((name) => name !== PENDING_KEY && !name.startsWith('.'))
  const hasContents = (await namesIn(blobs)).some((name) => /^([0-9a-f]{2}|installation)$/.test(name))
  return [...(hasKeys ? ['keys'] : []), ...(hasContents ? ['contents'] : [])]
}

/** `empty` has no rows of an installation, `foreign` those of another program or no rows that SQLite could read. */
export type DatabaseLook = 'missing' | 'empty' | 'foreign' | 'own'

function lookInside(handle: SqliteHandle): DatabaseLook {
  const tables = handle.prepare("select name from sqlite_master where type = 'table'").pluck().all()
  if (!tables.includes('instance')) return tables.length === 0 ? 'empty' : 'foreign'
  return handle.prepare("select 1 from instance where key = 'server_id'").get() ? 'own' : 'empty'
}

/** What the database file is, without changing it. What cannot be read for another reason is left to opening it. */
export async function lookAtDatabase(file: string): Promise<DatabaseLook> {
  const found = await stat(file).catch((error: unknown) => errorCode(error))
  if (found === 'ENOENT') return 'missing'
  if (typeof found === 'string' || !found.isFile()) return 'own'
  if (found.size === 0) return 'empty'
  let handle: SqliteHandle | undefined
  try {
    handle = openCopyFile(file, { readonly: true })
    return lookInside(handle)
  } catch (error) {
    return errorCode(error) === 'SQLITE_NOTADB' ? 'foreign' : 'own'
  } finally {
    handle?.close()
  }
}

const WAYS =
  'Mount the disk or put back the file that is missing, or restore a backup to a new folder (svc backup restore latest --from DIR --data-dir NEW). ' +
  'To start afresh, run svc init --new or svc serve --new, which move what is there aside and remove nothing.'

const FLAWS: Record<Exclude<DatabaseLook, 'own'>, string> = {
  missing: 'no database (svc.db is missing)',
  empty: 'its database (svc.db) is empty',
  foreign: 'its svc.db is no database of svc',
}

export const lostRows = (path: string, remains: readonly string[], flaw: string): LostDatabase =>
  new LostDatabase(`${path} holds the ${remains.join(' and ')} of an installation, but ${flaw}. ${WAYS}`)

/**
 * Looks at the database of a data directory that keeps its own rows. Throws `LostDatabase` where others should be there.
 * The remains first: another process that makes the installation at this moment leaves them only once its rows are there.
 */
export async function assertNothingLost(directory: DataDirectory): Promise<DatabaseLook> {
  const remains = await remainsOf(directory)
  const look = await lookAtDatabase(directory.database)
  if (look === 'foreign' && remains.length === 0)
    throw new LostDatabase(`${directory.database} is no database of svc: move it away, or name another --data-dir.`)
  if (look === 'own' || remains.length === 0) return look
  const elsewhere = look === 'missing' ? `, and ${variableOf('database')} names no server of its rows` : ''
  throw lostRows(directory.path, remains, `${FLAWS[look]}${elsewhere}`)
}

const REMAINS = /^(keys|blobs|tmp|arriving|svc\.db.*)$/

/** Moves what is left of a lost installation into a folder of its own, which is returned; its configuration stays. */
export async function moveAside({ path }: DataDirectory, now: Date): Promise<string> {
  const folder = join(path, `lost-${now.toISOString().replace(/\D/g, '').slice(0, 14)}`)
  await mkdir(folder, { mode: 0o700 })
  for (const name of (await readdir(path)).filter((one) => REMAINS.test(one))) {
    await rename(join(path, name), join(folder, name)).catch((cause: unknown) => {
      if (!['EBUSY', 'EXDEV', 'EPERM'].includes(errorCode(cause))) throw cause
      throw new LostDatabase(`${join(path, name)} cannot be moved aside: unmount it, or mount an empty disk there.`, {
        cause,
      })
    })
  }
  await syncFolder(folder)
  await syncFolder(path)
  return folder
}
