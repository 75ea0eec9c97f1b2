import { createHash } from 'node:crypto'
import { iso } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'

// A backup is a manifest that names everything by hash, and objects in a pool that the backups of a repository share:
// the database in pieces, large file contents, the lists of these, and small files such as keys.

/** Bytes identified by hash and length. */
export interface Piece {
  /** Lower-case hex. */
  sha256: string
  size: number
}

export interface Manifest {
  format: 1
  /** For example `20261121-031500-a1b2`: UTC time and a random suffix. */
  id: string
  /** ISO 8601 UTC. */
  created_at: string
  /** Version of svc that made it. */
  version: string
  server_id: string
  epoch: string
  /** Applied migrations, oldest first. */
  migrations: string[]
  /** In pieces of `DATABASE_PIECE` bytes; only the last may be shorter. */
  database: { size: number; pieces: string[] }
  /** `config.json` and the files in `keys`. */
  files: (Piece & { path: string })[]
  /** Number and bytes of the contents in the blob store, and the lists that name them. */
  blobs: { count: number; bytes: number; lists: Piece[] }
  /** Contents that were missing when the backup was made. */
  missing: string[]
  rows: Record<string, number>
  totals: { accounts: number; files: number; file_bytes: number; objects: number; bytes: number }
  /** What this backup added to the pool. */
  added: { objects: number; bytes: number }
}

/** A manifest, a list or an object is invalid: nothing of the backup can be relied on. */
export class DamagedBackup extends Error {
  override name = 'DamagedBackup'
  /** Whether a partial restore can leave out the damaged part. */
  isDispensable = false
}

/** Distinct ids per millisecond; together with the millisecond they fill four hex digits and sort by time. */
const PER_MS = 64

/** `20261121-031500`: the time that an id begins with, UTC. */
export const idTime = (at: number): string => iso(at).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')

/** `20261121-031500-a1b2`: ids in order of time, to the millisecond. */
export function newId(now: number): string {
  const within = (now % 1_000) * PER_MS + (Number.parseInt(randomHex(1), 16) % PER_MS)
  return `${idTime(now)}-${within.toString(16).padStart(4, '0')}`
}

/** Size in bytes and SHA-256 of a piece. */
export const pieceOf = (data: Uint8Array): Piece => ({
  sha256: createHash('sha256').update(data).digest('hex'),
  size: data.length,
})

export const DATABASE_PIECE = 256 << 10

/** Entries of a list of blobs: lists are read one at a time, and unchanged ones are stored once. */
const LIST_ENTRIES = 4_096
const MAX_BLOBS = 5_000_000
const MAX_PIECES = 1 << 21
/** Longest manifest accepted, bytes: enough for a database of 500 GB. */
export const MAX_MANIFEST = 64 << 20
/** Longest list or small file, bytes. */
const MAX_SMALL = 4 << 20

const ID = /^\d{8}-\d{6}-[0-9a-f]{4}$/
const HASH = /^[0-9a-f]{64}$/
const HEX = /^[0-9a-f]{32}$/
const WORD = /^[\x20-\x7e]{1,100}$/
const NAME = /^[a-z0-9_-]{1,100}$/
const PATH = /^(config\.json|keys\/[a-z0-9][a-z0-9.-]{0,80})$/

export const isBackupId = (text: string): boolean => ID.test(text)

/** The time in a backup id, epoch ms. */
export const backupTime = (id: string): number =>
  Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-.*$/, '$1-$2-$3T$4:$5:$6Z'))

/** Files of the installation that a backup may contain. */
export const isInstallationFile = (path: string): boolean => PATH.test(path)

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new DamagedBackup(what)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isText = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value)

function record(value: unknown, what: string): Record<string, unknown> {
  check(typeof value === 'object' && value !== null && !Array.isArray(value), what)
  return value as Record<string, unknown>
}

function list<T>(value: unknown, what: string, max: number, read: (item: unknown) => T): T[] {
  check(Array.isArray(value) && value.length <= max, what)
  return value.map(read)
}

function counts<const K extends string>(value: unknown, what: string, keys: readonly K[]): Record<K, number> {
  const from = record(value, what)
  for (const key of keys) check(isCount(from[key]), `${what}.${key}`)
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Record<K, number>
}

function piece(value: unknown, what: string): Piece {
  const { sha256, size } = record(value, what)
  check(isText(sha256, HASH), what)
  check(isCount(size) && size <= MAX_SMALL, what)
  return { sha256, size }
}

function filesOf(value: unknown): Manifest['files'] {
  const files = list(value, 'files', 1_000, (item) => {
    const { path } = record(item, 'files')
    check(isText(path, PATH), 'files')
    return { path, ...piece(item, 'files') }
  })
  check(new Set(files.map(({ path }) => path)).size === files.length, 'files')
  return files
}

function databaseOf(value: unknown): Manifest['database'] {
  const { size, pieces } = record(value, 'database')
  check(isCount(size) && size > 0, 'database.size')
  const hashes = list(pieces, 'database.pieces', MAX_PIECES, (item) => {
    check(isText(item, HASH), 'database.pieces')
    return item
  })
  check(hashes.length === Math.ceil(size / DATABASE_PIECE), 'database.pieces')
  return { size, pieces: hashes }
}

function blobsOf(value: unknown): Manifest['blobs'] {
  const { count, bytes } = counts(value, 'blobs', ['count', 'bytes'])
  check(count <= MAX_BLOBS, 'blobs.count')
  const lists = list(record(value, 'blobs')['lists'], 'blobs.lists', MAX_BLOBS, (item) => piece(item, 'blobs.lists'))
  return { count, bytes, lists }
}

/** Parses an untrusted manifest. Throws `DamagedBackup`, which names `what` it is. */
export function parseManifest(text: string, expectedId: string, what = 'The manifest'): Manifest {
  try {
    return parse(text, expectedId)
  } catch (error) {
    throw error instanceof DamagedBackup ? new DamagedBackup(`${what} is not valid: ${error.message}.`) : error
  }
}

function parse(text: string, expectedId: string): Manifest {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new DamagedBackup('it is not JSON')
  }
  const from = record(parsed, 'no object')
  check(from['format'] === 1, 'it has another format; a newer svc may read it')
  const { id, created_at, version, server_id, epoch } = from
  check(isText(id, ID) && id === expectedId, 'id')
  check(typeof created_at === 'string' && !Number.isNaN(Date.parse(created_at)), 'created_at')
  check(isText(version, WORD), 'version')
  check(isText(server_id, HEX), 'server_id')
  check(isText(epoch, HEX), 'epoch')
  const rows = record(from['rows'], 'rows')
  for (const [name, count] of Object.entries(rows)) check(NAME.test(name) && isCount(count), 'rows')
  return {
    format: 1,
    id,
    created_at: new Date(created_at).toISOString(),
    version,
    server_id,
    epoch,
    migrations: list(from['migrations'], 'migrations', 1_000, (item) => {
      check(isText(item, NAME), 'migrations')
      return item
    }),
    database: databaseOf(from['database']),
    files: filesOf(from['files']),
    blobs: blobsOf(from['blobs']),
    missing: list(from['missing'], 'missing', MAX_BLOBS, (item) => {
      check(isText(item, HASH), 'missing')
      return item
    }),
    rows: rows as Record<string, number>,
    totals: counts(from['totals'], 'totals', ['accounts', 'files', 'file_bytes', 'objects', 'bytes']),
    added: counts(from['added'], 'added', ['objects', 'bytes']),
  }
}

export const databasePieces = ({ size, pieces }: Manifest['database']): Piece[] =>
  pieces.map((sha256, index) => ({ sha256, size: Math.min(DATABASE_PIECE, size - index * DATABASE_PIECE) }))

/** Splits blobs into lists at hashes, so that an added or removed blob changes one list only. */
export function* listsOf(blobs: readonly Piece[]): Generator<string> {
  const digits = Math.max(0, Math.ceil(Math.log(blobs.length / LIST_ENTRIES) / Math.log(16)))
  let lines: string[] = []
  let shelf: string | undefined
  for (const { sha256, size } of blobs) {
    const own = sha256.slice(0, digits)
    if (own !== shelf && lines.length > 0) {
      yield lines.join('')
      lines = []
    }
    shelf = own
    lines.push(`${sha256} ${size}\n`)
  }
  if (lines.length > 0) yield lines.join('')
}

/** Reads the lists of blobs. Throws `DamagedBackup` if they are not ordered or do not match the manifest. */
export async function readLists(manifest: Manifest, read: (list: Piece) => Promise<Buffer>): Promise<Piece[]> {
  const { count, bytes, lists } = manifest.blobs
  const blobs: Piece[] = []
  let sum = 0
  for (const one of lists) {
    for (const line of (await read(one)).toString('latin1').split('\n').slice(0, -1)) {
      const [, sha256 = '', digits = ''] = /^([0-9a-f]{64}) (\d{1,15})$/.exec(line) ?? []
      if (sha256 === '' || sha256 <= (blobs.at(-1)?.sha256 ?? ''))
        throw new DamagedBackup('A list of contents is not valid.')
      if (blobs.length === count) throw new DamagedBackup('The lists name more contents than the manifest.')
      blobs.push({ sha256, size: Number(digits) })
      sum += Number(digits)
    }
  }
  if (blobs.length !== count || sum !== bytes)
    throw new DamagedBackup('The lists name other contents than the manifest.')
  return blobs
}

/** Every object of a backup once, in the order of an archive. */
export function objectsOf(manifest: Manifest, blobs: readonly Piece[]): Piece[] {
  const objects = new Map<string, Piece>()
  const all = [manifest.blobs.lists, manifest.files, databasePieces(manifest.database), blobs]
  for (const group of all)
    for (const { sha256, size } of group) {
      const known = objects.get(sha256)
      if (known && known.size !== size) throw new DamagedBackup('The manifest names one object with two sizes.')
      objects.set(sha256, known ?? { sha256, size })
    }
  return [...objects.values()]
}
