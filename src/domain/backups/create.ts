import { createHash } from 'node:crypto'
import { iso, MINUTE, type Clock } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { putRecord } from '../../storage/backup-records.ts'
import { censusOf, type Census } from '../../storage/backups/census.ts'
import { databasePieces, listsOf, type Manifest, type Piece } from '../../storage/backups/manifest.ts'
import { lengthOf, makeScratch, piecesOf } from '../../storage/backups/scratch.ts'
import type { BackupSink, Draft } from '../../storage/backups/source.ts'
import type { BlobStore } from '../../storage/blobs/blobs.ts'
import { holdCollector, standingHolds } from '../../storage/collector-holds.ts'
import type { Database } from '../../storage/database.ts'
import { passingTables } from '../../storage/restored.ts'
import { openCopy } from '../../storage/sqlite-copy.ts'
import type { Audit, Identity } from '../instance/instance.ts'
import type { Doing } from './doing.ts'

/** The collector's hold is renewed this often, ms. */
const RENEW_EVERY = MINUTE

export interface CreateParts {
  database: Database
  blobs: BlobStore
  clock: Clock
  audit: Audit
  identity: Identity
  version: string
  /** Files of the installation beside database and blobs: `config.json` and keys. */
  installation: () => Promise<{ path: string; data: Uint8Array }[]>
  /** Folder for the copy of the database. */
  scratch: string
}

/** A backup that was made. */
export interface Created {
  manifest: Manifest
  place: string
  encrypted: boolean
  took_ms: number
}

const shaOf = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

/** Ids of one moment are told apart by so many numbers, and those of a second stay in order in four hex digits. */
const PER_MS = 64

/** `20261121-031500-a1b2`: ids in order of time, to the millisecond. */
function newId(now: number): string {
  const [day, time] = iso(now).slice(0, 19).replaceAll('-', '').replaceAll(':', '').split('T')
  const within = (now % 1_000) * PER_MS + (Number.parseInt(randomHex(1), 16) % PER_MS)
  return `${day}-${time}-${within.toString(16).padStart(4, '0')}`
}

const total = (pieces: Iterable<Piece>) => {
  const distinct = new Map([...pieces].map(({ sha256, size }) => [sha256, size]))
  return { objects: distinct.size, bytes: [...distinct.values()].reduce((sum, size) => sum + size, 0) }
}

interface Gathered {
  census: Census
  missing: ReadonlySet<string>
  database: Manifest['database']
  installation: { path: string; data: Uint8Array }[]
}

/** Everything that the manifest says, and the small objects it names. */
function draftOf(parts: CreateParts, now: number, file: string, gathered: Gathered): Draft {
  const { census, missing, database, installation } = gathered
  const blobs = census.blobs.filter(({ sha256 }) => !missing.has(sha256))
  const small = new Map<string, Uint8Array>()
  const remember = (data: Uint8Array): Piece => {
    const sha256 = shaOf(data)
    small.set(sha256, data)
    return { sha256, size: data.length }
  }
  const lists = [...listsOf(blobs)].map((list) => remember(Buffer.from(list)))
  const files = installation.map(({ path, data }) => ({ path, ...remember(data) }))
  const { rows, accounts, files: count, file_bytes, migrations } = census
  return {
    manifest: {
      format: 1,
      id: newId(now),
      created_at: iso(now),
      version: parts.version,
      ...parts.identity,
      migrations,
      database,
      files,
      blobs: { count: blobs.length, bytes: blobs.reduce((sum, { size }) => sum + size, 0), lists },
      missing: [...missing].sort(),
      rows,
      totals: {
        accounts,
        files: count,
        file_bytes,
        ...total([...lists, ...files, ...databasePieces(database), ...blobs]),
      },
    },
    blobs,
    small,
    database: file,
  }
}

/** Waits for two at once, and for both also when one fails: what they work on is cleared away afterwards. */
async function both<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}

/** Makes one backup: the database as it is at one moment first, then the contents it names, which only grow. */
async function make(parts: CreateParts, sink: BackupSink, { progress, signal }: Doing): Promise<Manifest> {
  const { database, clock } = parts
  const hold = await holdCollector(database)
  let lost: Error | undefined
  const timer = setInterval(
    () => void hold.renew().catch((error: unknown) => void (lost = error as Error)),
    RENEW_EVERY,
  )
  timer.unref()
  const scratch = await makeScratch(parts.scratch, hold.id, await standingHolds(database.read))
  const stored = (bytes: number): void => {
    signal?.throwIfAborted()
    if (lost) throw lost
    progress?.add(bytes)
  }
  try {
    const now = clock.now()
    await database.copyTo(scratch.file, { without: passingTables, progress: () => signal?.throwIfAborted() })
    const copy = openCopy(scratch.file)
    const census = await censusOf(copy.at).finally(() => copy.close())
    progress?.total((await lengthOf(scratch.file)) + census.blobs.reduce((sum, { size }) => sum + size, 0))
    const [missing, pieces] = await both(sink.takeBlobs(census.blobs, stored), piecesOf(scratch.file))
    const gathered = { census, missing, database: pieces, installation: await parts.installation() }
    return await sink.finish(draftOf(parts, now, scratch.file, gathered), stored)
  } finally {
    clearInterval(timer)
    await scratch.clear()
    await hold.release()
  }
}

/** Where a backup is to go. */
export interface Target {
  place: string
  encrypted: boolean
  open(blobs: BlobStore): Promise<BackupSink>
}

/** Makes backups and keeps a record of how that went, also of a target that cannot be opened. */
export const makeCreate =
  (parts: CreateParts) =>
  async ({ place, encrypted, open }: Target, doing: Doing = {}): Promise<Created> => {
    const { database, clock, audit } = parts
    const start = clock.now()
    const where = { place, encrypted }
    try {
      const sink = await open(parts.blobs)
      let manifest: Manifest
      try {
        manifest = await make(parts, sink, doing)
      } finally {
        await sink.close()
      }
      const took_ms = clock.now() - start
      const { id, totals, added, missing } = manifest
      await database.write(async (tx) => {
        await putRecord(tx, 'done', { id, at: clock.now(), ...where })
        const detail = { id, ...where, bytes: totals.bytes, added_bytes: added.bytes, missing: missing.length }
        await audit.record(tx, { kind: 'backup.created', detail })
      })
      return { manifest, ...where, took_ms }
    } catch (error) {
      if (doing.signal?.aborted) throw error
      const message = (error as Error).message
      // A disk that is full may have no room for this either: then the first failure is the one to tell.
      await database
        .write(async (tx) => {
          await putRecord(tx, 'failed', { at: clock.now(), message, ...where })
          await audit.record(tx, { kind: 'backup.failed', detail: { message, ...where } })
        })
        .catch(() => undefined)
      throw error
    }
  }
