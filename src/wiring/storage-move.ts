import { open, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import pLimit from 'p-limit'
import { iso, systemClock } from '../base/clock.ts'
import { DatabaseMoved, InUse } from '../base/errors.ts'
import type { JobContext } from '../domain/backups/backups.ts'
import { makeAudit, variableOf } from '../domain/instance/instance.ts'
import { shapes } from '../domain/sync/sync.ts'
import { syncFolder } from '../host/durable-files.ts'
import type { BlobStore } from '../storage/contents/blobs/blobs.ts'
import { assertOwnedBy } from '../storage/contents/blobs/owned-blobs.ts'
import { remember } from '../storage/contents/collector-memory.ts'
import { migrate } from '../storage/engine/migrations/migrate.ts'
import type { Database } from '../storage/engine/database.ts'
import { postgresAddress } from '../storage/engine/postgres-address.ts'
import { ensureTables } from '../storage/engine/synchronised-tables.ts'
import { aloneOnSqlite } from '../storage/engine/sqlite.ts'
import {
  changeConfigFile,
  dataDirectoryPath,
  openDataDirectory,
  type DataDirectory,
} from './installation/data-directory.ts'
import { readGiven } from './config/given-config.ts'
import { commandOperator } from './config/environment.ts'
import { forgetExternalDatabase, rememberExternalDatabase } from './installation/external-database.ts'
import { assertInstalled } from './installation/installation-check.ts'
import { inspectDatabase } from './installation/lost-database.ts'
import { openLocal } from './local-domain.ts'
import { openBlobs, openStorage, PLACES } from './installation/storage.ts'

// Moves data of an installation: rows between SQLite and Postgres, contents between the data directory and a bucket.
// The old data is kept, unused, until the administrator removes it.

/** A reason that prevents a move; nothing was changed. */
class CannotMove extends Error {
  override name = 'CannotMove'
  readonly exitCode: number
  constructor(text: string, exitCode = 6, cause?: unknown) {
    super(text, { cause })
    this.exitCode = exitCode
  }
}

export interface Moved {
  what: 'rows' | 'contents'
  /** Contents copied by this run, and their bytes. */
  contents: number
  bytes: number
  /** Where the old data still is. */
  left: string
  /** The environment variable that must name the new place; undefined if `config.json` does. */
  variable: string | undefined
}

interface Place {
  directory: DataDirectory
  env: NodeJS.ProcessEnv
  owner: string
  /** Addresses as in the settings, empty for the data directory. */
  database: string
  blobs: string
}

const STOP = 'Stop every server and every other command of svc, and run this again'

const stopped = <T>(work: Promise<T>, more = ''): Promise<T> =>
  work.catch((error: unknown) => {
    if (!(error instanceof InUse)) throw error
    throw new CannotMove(`${error.message} ${STOP}${more}.`, 6, error)
  })

/** Runs `unit` with exclusive access to the database. */
async function withExclusiveAccess<T>({ directory, database }: Place, unit: () => Promise<T>): Promise<T> {
  if (database === '') return aloneOnSqlite(directory.database, unit)
  const { aloneOnPostgres } = await import('../storage/engine/postgres.ts')
  return aloneOnPostgres(database, unit)
}

/** Stores a new place, or the data directory, in the settings. Returns the variable that overrides it. */
async function decide({ directory, env }: Place, name: 'database' | 'blobs', value: string) {
  const variable = variableOf(name)
  if (env[variable]) return variable
  await changeConfigFile(directory, ({ [name]: _before, ...others }) =>
    value === '' ? others : { ...others, [name]: value },
  )
  return undefined
}

async function rowsToPostgres(place: Place, url: string): Promise<Moved> {
  const { directory } = place
  const [{ openPostgres }, { fillPostgres }] = await Promise.all([
    import('../storage/engine/postgres.ts'),
    import('../storage/engine/postgres-fill.ts'),
  ])
  const target = await openPostgres(url, { hasLeft: true })
  try {
    await migrate(target)
    await ensureTables(target, shapes)
    const left = `${directory.database}.moved-${iso(systemClock.now()).replace(/\D/g, '').slice(0, 14)}`
    const move = aloneOnSqlite(directory.database, async (from) => {
      await fillPostgres(target, from)
      // From here on the rows of Postgres count: an interrupted move leaves two copies, and a directory that names the right one.
      const variable = await decide(place, 'database', url)
      await rememberExternalDatabase(directory, url)
      await rename(directory.database, left)
      await syncFolder(directory.path)
      return variable
    })
    return { what: 'rows', contents: 0, bytes: 0, left, variable: await stopped(move) }
  } finally {
    await target.close()
  }
}

/** The database of the data directory, as a database that was moved there names it. */
const ownPlace = ({ database }: DataDirectory): string => `${database} on ${hostname()}`

/** After an interruption, a second run completes the move: nobody has changed the rows since they were marked. */
async function rowsToSqlite(place: Place): Promise<Moved> {
  const { directory, database } = place
  const { aloneOnPostgres, rowsMovedTo } = await import('../storage/engine/postgres.ts')
  const isThere = (await inspectDatabase(directory.database)) !== 'missing'
  const hasArrived = isThere && (await rowsMovedTo(database)) === ownPlace(directory)
  if (isThere && !hasArrived) throw new CannotMove(`${directory.database} already exists: move it away first.`)
  const arriving = `${directory.database}.arriving`
  const copy = async (from: Database) => {
    await rm(arriving, { force: true })
    await from.copyTo(arriving, { without: [] })
    const file = await open(arriving, 'r+')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }
  if (!hasArrived) {
    await stopped(aloneOnPostgres(database, copy, ownPlace(directory)))
    await rename(arriving, directory.database)
    await syncFolder(directory.path)
  }
  await forgetExternalDatabase(directory)
  const variable = await decide(place, 'database', '')
  const left = `the database ${postgresAddress(database).path.slice(1)}`
  return { what: 'rows', contents: 0, bytes: 0, left, variable }
}

const CONCURRENCY = 4

/** Copies every missing content and checks it against its name, its SHA-256. */
async function copyContents(from: BlobStore, to: BlobStore, { progress, signal }: JobContext) {
  const known = new Map<string, number>()
  for await (const { sha256, size } of to.list()) known.set(sha256, size)
  const missing: { sha256: string; size: number }[] = []
  // Not every store drops an object whose upload broke off.
  for await (const blob of from.list()) if (known.get(blob.sha256) !== blob.size) missing.push(blob)
  progress?.total(missing.reduce((sum, { size }) => sum + size, 0))
  const limit = pLimit(CONCURRENCY)
  const copy = async ({ sha256, size }: { sha256: string; size: number }) => {
    signal?.throwIfAborted()
    const arrived = await to.put(from.read(sha256), Infinity)
    if (arrived.sha256 !== sha256)
      throw new CannotMove(`The content ${sha256} is damaged in its old place: svc storage check names its files.`, 1)
    progress?.add(size)
  }
  await Promise.all(missing.map((blob) => limit(() => copy(blob)))).catch((error: unknown) => {
    limit.clearQueue()
    throw error
  })
  return { contents: missing.length, bytes: missing.reduce((sum, { size }) => sum + size, 0) }
}

async function moveContents(place: Place, address: string, job: JobContext): Promise<Moved> {
  const { directory, env, blobs, owner } = place
  const from = await openBlobs(directory, blobs, env, job.signal)
  const to = await openBlobs(directory, address, env, job.signal)
  try {
    await to.check()
    await assertOwnedBy(to, owner)
    await to.claim(owner)
    // Most contents are copied while servers may still run; the rest when none does.
    const most = await copyContents(from, to, job)
    const more = `: ${most.contents} contents are already there and stay`
    const rest = await stopped(
      withExclusiveAccess(place, async () => ({
        ...(await copyContents(from, to, { signal: job.signal })),
        variable: await decide(place, 'blobs', address),
      })),
      more,
    )
    return {
      what: 'contents',
      contents: most.contents + rest.contents,
      bytes: most.bytes + rest.bytes,
      left: blobs === '' ? directory.blobs : 'the bucket',
      variable: rest.variable,
    }
  } finally {
    await from.close()
    await to.close()
  }
}

const notTwice = (from: string, to: string, what: string, back: string): void => {
  if (from === to) throw new CannotMove(`The ${what} are already there.`)
  if (from !== '')
    throw new CannotMove(`The ${what} are not in the data directory: move them back first, with --to ${back}.`)
}

const notHere = (from: string, what: string): void => {
  if (from === '') throw new CannotMove(`The ${what} are already in the data directory.`)
}

async function move(place: Place, to: string, job: JobContext): Promise<Moved> {
  if (/^postgres(ql)?:\/\//.test(to)) {
    notTwice(place.database, to, 'rows', 'sqlite:')
    return rowsToPostgres(place, to)
  }
  if (to.startsWith('s3://')) {
    notTwice(place.blobs, to, 'contents', 'disk:')
    return moveContents(place, to, job)
  }
  if (to === 'sqlite:') {
    notHere(place.database, 'rows')
    return rowsToSqlite(place)
  }
  if (to === 'disk:') {
    notHere(place.blobs, 'contents')
    return moveContents(place, '', job)
  }
  throw new CannotMove(
    'Rows move to postgres://USER@HOST/NAME or back to sqlite:, contents to s3://BUCKET?endpoint=URL or back to disk:.',
    2,
  )
}

const isPlaceVariable = (name: string): boolean => PLACES.some((place) => variableOf(place) === name)

/**
 * Moves the rows or contents of an installation to `to` under exclusive access, and stores the new place in
 * `config.json`. After an error or interruption the installation is unchanged. Throws `CannotMove`, and errors of
 * opening the new place.
 */
export async function moveStorage(
  { dataDir, env: given }: { dataDir: string | undefined; env: NodeJS.ProcessEnv },
  to: string,
  job: JobContext,
): Promise<Moved> {
  // A variable that already names the new place is correct after the move.
  const env = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== to || !isPlaceVariable(name)),
  )
  const path = dataDirectoryPath(dataDir, env)
  await assertInstalled(path, env)
  const directory = await openDataDirectory(path)
  const { values } = await readGiven(directory, env)
  // Opened once unchanged, so that it is migrated and verified.
  const owner = await openLocal({ dataDir: directory.path, env, create: false }).then(
    (local) => local.close().then(() => local.domain.instance.identity.server_id),
    (error: unknown) => {
      if (to === 'sqlite:' && error instanceof DatabaseMoved) return ''
      throw error
    },
  )
  const place = { directory, env, owner, database: values.database ?? '', blobs: values.blobs ?? '' }
  const moved = await move(place, to, job)
  const where = { [moved.what === 'rows' ? 'database' : 'blobs']: /^(sqlite|disk):$/.test(to) ? '' : to }
  const { database, close } = await openStorage(directory, { values: { ...values, ...where }, sources: {} }, env)
  try {
    const audit = makeAudit({ database, clock: systemClock, operator: commandOperator() })
    const { what, contents, bytes } = moved
    const detail = { what, ...(what === 'contents' && { contents, bytes }) }
    await database.write('instance', async (tx) => {
      // The contents in the store now belong to this installation.
      await remember(tx, () => ({ seen: Date.now() }))
      await audit.record(tx, { kind: 'storage.moved', detail })
    })
  } finally {
    await close()
  }
  return moved
}
