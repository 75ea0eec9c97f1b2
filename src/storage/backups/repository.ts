import { makeFolder } from '../../host/folder-creation.ts'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { DAY, systemClock } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { errorCode, fromSystemError } from '../../base/errors.ts'
import { syncFolder } from '../../host/durable-files.ts'
import { clearUnfinished } from '../../host/unfinished-files.ts'
import type { BlobStore } from '../contents/blobs/blobs.ts'
import { namesIn, openBytes, readAll } from './file-bytes.ts'
import { anotherPlace, isBucket, within } from './repository-path.ts'
import { removeStored, replaceStored, storeNew } from './repository-files.ts'
import { lockRepository, currentLocks, type RepositoryLock } from './lock.ts'
import {
  DamagedBackup,
  databasePieces,
  DATABASE_PIECE,
  objectsOf,
  readLists,
  type Manifest,
  type Piece,
} from './backup-manifest.ts'
import {
  bytesAtHand,
  openPool,
  poolKeys,
  type ObjectPool,
  type Origin,
  type PoolKeys,
  type Reread,
} from './object-pool.ts'
import type { BackupSink, BackupSource } from './source.ts'
import { KEY_FILE } from './sealed-key.ts'
import { idsIn, manifestFile, manifestNames, readManifest } from './stored-manifests.ts'
import { seal } from './stream-cipher.ts'
import { chaptersIn } from './stream-files.ts'
import { verifyStream } from './stream-verification.ts'

// A repository is a folder, or the prefix of a bucket, in which the backups of one server share their objects:
//
//   svc-backup.json     header, in plain text
//   key.age             the key of an encrypted repository, protected by its passphrase; the `age` program opens it too
//   snapshots/<id>.json the manifest of a backup (`.sealed` when encrypted), written last
//   objects/ab/<name>   an object, named by its SHA-256, or by a keyed hash of that when encrypted
//   stream              what changed since, continuously; see stream-files.ts
//   locks, tmp          current processes, and files being written

/** The folder is not a repository, or cannot be used as one. */
export class BadRepository extends Error {
  override name = 'BadRepository'
  readonly exitCode: number
  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** A folder without backups. It may be the mount point of a disk that is not there. */
export class NoBackups extends BadRepository {
  override name = 'NoBackups'
  constructor(folder: string) {
    super(`There are no backups in ${folder}. Is ${isBucket(folder) ? 'the address right' : 'the disk mounted'}?`, 5)
  }
}

export interface RepositoryHeader {
  format: 1
  repository: string
  server_id: string
  encrypted: boolean
}

export const HEADER_FILE = 'svc-backup.json'
const OWN_NAMES = new Set([HEADER_FILE, KEY_FILE, 'snapshots', 'objects', 'locks', 'tmp', 'stream', 'lost+found'])
/** Temporary file of a killed run. */
const UNFINISHED = /^\..+\.[0-9a-f]{12}\.tmp$/
/** Objects copied concurrently: their flushes overlap. */
const WIDTH = 8
/** Longest header accepted, bytes. */
const MAX_HEADER = 4_096
const HEX = /^[0-9a-f]{32}$/

/** Throws `DamagedBackup`, or `BadRepository` for the format of a newer version. */
export function parseHeader(text: string, place: string): RepositoryHeader {
  try {
    const { format, repository, server_id, encrypted } = JSON.parse(text) as Partial<RepositoryHeader>
    const isOne = HEX.test(repository ?? '') && HEX.test(server_id ?? '') && typeof encrypted === 'boolean'
    if (isOne && format === 1) return { format, repository: repository!, server_id: server_id!, encrypted }
    if (isOne) throw new BadRepository(`${place} was created by a newer version of svc: update svc.`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new DamagedBackup(`${within(place, HEADER_FILE)} is damaged.`)
}

export const headerText = (header: RepositoryHeader): string => `${JSON.stringify(header, null, 2)}\n`

/** What reading needs of a header; `problem` says why it was inferred from the backups beside it. */
export type ReadableHeader = Partial<RepositoryHeader> & { encrypted: boolean; problem?: string | undefined }

const whatToDo = (place: string): string =>
  `The backups beside it can be read and restored: store new ones in ${anotherPlace(place)}.`

/** The text of the header in a folder; undefined if it is missing. */
async function headerIn(folder: string): Promise<string | undefined> {
  try {
    const file = await openBytes(within(folder, HEADER_FILE))
    try {
      return String(await readAll(file.read(0, Math.min(file.size, MAX_HEADER))))
    } finally {
      await file.close()
    }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined
    throw error
  }
}

/**
 * The header of the repository in a folder; undefined if there is none. Throws `DamagedBackup` if there are backups but
 * no valid header: a new one would make the key of encrypted backups unusable.
 */
export async function repositoryAt(folder: string): Promise<RepositoryHeader | undefined> {
  let problem: DamagedBackup | undefined
  try {
    const text = await headerIn(folder)
    if (text !== undefined) return parseHeader(text, folder)
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error
    problem = error
  }
  const hasBackups = (await backupsIn(folder)) !== undefined
  if (!hasBackups && problem) throw problem
  if (hasBackups)
    throw new DamagedBackup(`${problem?.message ?? `${within(folder, HEADER_FILE)} is missing.`} ${whatToDo(folder)}`)
  return undefined
}

/** The header for reading only, which also works if the file is missing or damaged. */
export async function readableHeader(folder: string): Promise<ReadableHeader | undefined> {
  try {
    return await repositoryAt(folder)
  } catch (error) {
    const found = error instanceof DamagedBackup ? await backupsIn(folder) : undefined
    if (found === undefined) throw error
    return { ...found, problem: (error as Error).message }
  }
}

/** What backups and chapters of a stream say without a header; undefined if there are none. */
async function backupsIn(folder: string): Promise<{ encrypted: boolean } | undefined> {
  const [names, chapters] = await Promise.all([manifestNames(folder), chaptersIn(folder)])
  if (names.length === 0 && chapters.length === 0) return undefined
  if (names.length > 0) return { encrypted: names.some((name) => name.endsWith('.sealed')) }
  return { encrypted: (await namesIn(folder)).includes(KEY_FILE) }
}

/**
 * Creates a repository in a new or empty folder; leftovers of an interrupted attempt do not matter. `sealedKey` makes
 * it encrypted. Throws `BadRepository` for a folder with anything else in it.
 */
export async function createRepository(
  folder: string,
  server_id: string,
  sealedKey: Uint8Array | undefined,
): Promise<RepositoryHeader> {
  if (!isBucket(folder)) {
    await makeFolder(folder, 0o700)
    await clearUnfinished(folder, 'archive', Date.now())
  }
  const foreign = (await namesIn(folder)).find((name) => !OWN_NAMES.has(name) && !UNFINISHED.test(name))
  if (foreign !== undefined)
    throw new BadRepository(
      `${folder} contains other files (${foreign}): give ${anotherPlace(folder)}, which is new or empty.`,
      6,
    )
  const lock = await lockRepository(within(folder, 'locks'), 'exclusive', 'the first backup').catch((error: unknown) =>
    Promise.reject(fromSystemError(error, folder) as Error),
  )
  try {
    const made = await repositoryAt(folder)
    if (made) return made
    const header: RepositoryHeader = { format: 1, repository: randomHex(16), server_id, encrypted: !!sealedKey }
    if (!isBucket(folder)) await removeUnfinished(folder)
    if (sealedKey) await replaceStored(within(folder, KEY_FILE), sealedKey)
    for (const name of isBucket(folder) ? [] : ['snapshots', 'objects', 'tmp'])
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
    await storeNew(within(folder, HEADER_FILE), Buffer.from(headerText(header)))
    if (!isBucket(folder)) await syncFolder(dirname(folder))
    return header
  } catch (error) {
    throw fromSystemError(error, folder)
  } finally {
    await lock.release()
  }
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (UNFINISHED.test(name)) await rm(join(folder, name), { force: true })
}

/** The backups in a repository, for reading. `key` opens an encrypted one. */
export function readRepository(folder: string, header: ReadableHeader, key: Uint8Array | undefined): BackupSource {
  const keys = header.encrypted ? poolKeys(key!) : undefined
  const pool = openPool(folder, keys)
  return {
    place: folder,
    encrypted: header.encrypted,
    problem: header.problem,
    ids: () => idsIn(folder),
    manifest: (id) => readManifest(folder, id, keys),
    blobs: (manifest) => readLists(manifest, (list) => readAll(pool.read(list))),
    read: (piece) => pool.read(piece),
    verifyStream: () => verifyStream(folder, key, pool),
    close: () => Promise.resolve(),
  }
}

/** Waits for all even if one fails: nothing may be writing when the lock is released. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const limit = pLimit(WIDTH)
  let failure: Error | undefined
  const guarded = async (item: T): Promise<void> => {
    if (failure) return
    await work(item).catch((error: unknown) => void (failure ??= error as Error))
  }
  await Promise.all(items.map((item) => limit(guarded, item)))
  if (failure) throw failure
}

/** Contents of the blob store as objects. */
export const fromStore = (store: BlobStore, sha256: string): Origin => ({
  save: (file) => store.save(sha256, file),
  exists: () => store.has(sha256),
  read: () => store.read(sha256),
})

const partOf = (file: string, start: number, size: number): AsyncIterable<Uint8Array> =>
  createReadStream(file, { start, end: start + size - 1, highWaterMark: DATABASE_PIECE }).on('error', () => undefined)

const fromFile = (file: string, start: number, size: number): Origin => ({
  save: async (into) => bytesAtHand(await readAll(partOf(file, start, size))).save(into),
  exists: () => Promise.resolve(true),
  read: () => partOf(file, start, size),
})

async function storeManifest(folder: string, manifest: Manifest, keys: PoolKeys | undefined): Promise<void> {
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`)
  const content = keys ? await readAll(seal(keys.manifest, bytesAtHand(text).read())) : text
  const file = manifestFile(folder, manifest.id, keys)
  await storeNew(file, content)
}

/** An earlier backup and its objects, which the pool expects from now on; undefined if it is damaged. */
async function readEarlier(folder: string, id: string, keys: PoolKeys | undefined, pool: ObjectPool) {
  try {
    const manifest = await readManifest(folder, id, keys)
    pool.expect(objectsOf(manifest, []))
    const blobs = await readLists(manifest, (list) => readAll(pool.read(list)))
    pool.expect(blobs)
    return { manifest, blobs, objects: objectsOf(manifest, blobs) }
  } catch (error) {
    if (error instanceof DamagedBackup) return undefined
    throw error
  }
}

/** Opens a repository to add a backup. Others may add concurrently; removal waits. */
export async function addToRepository(
  folder: string,
  header: RepositoryHeader,
  key: Uint8Array | undefined,
  store: BlobStore,
  reread: Reread = { day: Math.floor(systemClock.now() / DAY) },
): Promise<BackupSink> {
  const locks = within(folder, 'locks')
  const lock = await lockRepository(locks, 'shared', 'svc backup create')
  const keys = header.encrypted ? poolKeys(key!) : undefined
  const pool = openPool(folder, keys, { lock: lock.id, reread })
  const added = { objects: 0, bytes: 0 }
  let repaired = 0

  async function add(piece: Piece, origin: Origin, stored: (bytes: number) => void): Promise<boolean> {
    const outcome = await pool.add(piece, origin)
    if (outcome === 'added') {
      added.objects += 1
      added.bytes += piece.size
    }
    if (outcome === 'repaired') repaired += 1
    stored(piece.size)
    return outcome !== 'missing'
  }

  async function addDatabase(file: string, database: Manifest['database'], stored: (bytes: number) => void) {
    const pieces = new Map(databasePieces(database).map((piece, index) => [piece.sha256, { piece, index }]))
    await each([...pieces.values()], async ({ piece, index }) => {
      await add(piece, fromFile(file, index * DATABASE_PIECE, piece.size), stored)
    })
  }

  if (!isBucket(folder)) await mkdir(join(folder, 'tmp'), { recursive: true, mode: 0o700 })
  await pool.load()
  for (const id of (await idsIn(folder)).slice(reread === 'all' ? 0 : -1)) await readEarlier(folder, id, keys, pool)
  const standing = (await currentLocks(locks, 0)).map(({ id }) => id)
  // Objects of others, running or killed, may exist and still not survive a power failure.
  const wasInterrupted = await pool.sweep(standing)
  const settleAll = wasInterrupted || standing.length > 1

  return {
    place: folder,
    encrypted: header.encrypted,
    repository: header.repository,
    repaired: () => repaired,
    async standing(id) {
      const earlier = await readEarlier(folder, id, keys, pool)
      let isWhole = earlier !== undefined
      await each(earlier?.objects ?? [], async (piece) => {
        if (!(await pool.has(piece))) isWhole = false
      })
      return isWhole ? earlier : undefined
    },
    async takeBlobs(blobs, stored) {
      const missing = new Set<string>()
      await each(blobs, async (blob) => {
        if (!(await add(blob, fromStore(store, blob.sha256), stored))) missing.add(blob.sha256)
      })
      return missing
    },
    async finish({ manifest, small, database }, stored) {
      await each([...small], async ([sha256, data]) => {
        await add({ sha256, size: data.length }, bytesAtHand(data), stored)
      })
      if (database !== undefined) await addDatabase(database, manifest.database, stored)
      await pool.settle(settleAll)
      await lock.assertHeld()
      const complete = { ...manifest, added }
      await storeManifest(folder, complete, keys).catch((error: unknown) => {
        throw fromSystemError(error, folder)
      })
      await lock.assertHeld()
      return complete
    },
    close: () => lock.release(),
  }
}

/** A repository under an exclusive lock. */
export interface OwnRepository {
  pool: ObjectPool
  /** Removes backups; their objects remain until they are swept. */
  forget(ids: readonly string[]): Promise<void>
  release(): Promise<void>
}

/** Opens a repository for removing backups. Throws `RepositoryBusy` while a backup is made. */
export async function ownRepository(
  folder: string,
  header: ReadableHeader,
  key: Uint8Array | undefined,
): Promise<OwnRepository> {
  const lock: RepositoryLock = await lockRepository(within(folder, 'locks'), 'exclusive', 'svc backup prune')
  const keys = header.encrypted ? poolKeys(key!) : undefined
  const pool = openPool(folder, keys, { lock: lock.id })
  return {
    pool,
    async forget(ids) {
      await lock.assertHeld()
      const paths = ids.map((id) => manifestFile(folder, id, keys))
      if (isBucket(folder)) return removeStored(paths)
      await removeUnfinished(join(folder, 'snapshots'))
      await removeStored(paths)
      await syncFolder(join(folder, 'snapshots'))
    },
    release: () => lock.release(),
  }
}
