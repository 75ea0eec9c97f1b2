import { open, type FileHandle } from 'node:fs/promises'
import { iso } from '../../base/clock.ts'
import { commandLine } from '../../base/shell-words.ts'
import { openCopyFile } from '../../host/sqlite-engine.ts'
import { openCopy } from '../engine/sqlite-copy.ts'
import { censusOf } from './census.ts'
import {
  DamagedBackup,
  databasePieces,
  DATABASE_PIECE,
  idTime,
  listsOf,
  pieceOf,
  type Manifest,
  type Piece,
} from './backup-manifest.ts'
import { bytesAtHand, openPool, poolKeys, type ObjectPool } from './object-pool.ts'
import { assembleDatabase, ownScratch, piecesOf } from './scratch.ts'
import type { BackupSource } from './source.ts'
import { addEnds, chaptersIn, completeBase, recordsOf, type Chapter } from './stream-files.ts'

// The state of one moment of a stream, as if a backup had been made then.

/** How much a stream covers. */
interface StreamExtent {
  chapter: Chapter
  /** The first and the last moment that can be restored, epoch ms. */
  from: number
  until: number
  /** Why nothing after `until` can be read from this chapter. */
  damage: string | undefined
}

/** A backup that was put together from a stream. */
export interface MomentSource extends BackupSource {
  /** The moment of its state, epoch ms. */
  at: number
  /** Why it is older than asked for. */
  shortfall: string | undefined
}

/** What can be restored from each chapter, the newest first; those without a complete base are left out. */
async function* streamExtents(folder: string, key: Uint8Array | undefined): AsyncGenerator<StreamExtent> {
  const ends: Record<string, string> = {}
  for (const chapter of (await chaptersIn(folder)).reverse()) {
    let [from, until]: (number | undefined)[] = []
    let damage: string | undefined
    try {
      for await (const { head } of recordsOf(folder, chapter, key, ends[chapter.name])) {
        // Earlier than its completion only where the clock was set back.
        if (head.completes || from !== undefined) from = Math.min(from ?? Infinity, head.at)
        until = head.at
        addEnds(ends, head)
      }
    } catch (error) {
      if (!(error instanceof DamagedBackup)) throw error
      damage = error.message
    }
    if (from !== undefined && until !== undefined) yield { chapter, from, until, damage }
    else if (damage !== undefined) yield { chapter, from: Infinity, until: -Infinity, damage }
  }
}

async function applyPages(file: FileHandle, pages: ReadonlyMap<number, Uint8Array>): Promise<void> {
  for (const [page, bytes] of pages) await file.write(bytes, 0, bytes.length, (page - 1) * bytes.length)
}

/** How many records lead to a moment: where the clock was set back, the last one of the moment counts. */
async function recordsUntil(folder: string, chapter: Chapter, key: Uint8Array | undefined, moment: number) {
  let count = 0
  let wanted = 0
  let isWhole = false
  try {
    for await (const { head } of recordsOf(folder, chapter, key)) {
      count += 1
      isWhole ||= head.completes
      if (isWhole && head.at <= moment) wanted = count
    }
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error
  }
  return wanted
}

/** A database that was put together. */
interface Assembled {
  /** The moment that was reached, epoch ms. */
  at: number
  /** Contents that could not be read for one of its records. */
  missing: string[]
  damage?: string
}

/** Writes the records up to a moment over the base. */
async function applyRecords(
  { folder, key, file }: { folder: string; key: Uint8Array | undefined; file: string },
  { chapter }: StreamExtent,
  moment: number,
): Promise<Assembled> {
  let left = await recordsUntil(folder, chapter, key, moment)
  let at: number | undefined
  let isWhole = false
  const missing: string[] = []
  let size: number | undefined
  let damage: DamagedBackup | undefined
  const handle = await open(file, 'r+')
  try {
    for await (const record of recordsOf(folder, chapter, key)) {
      const pages = await record.pages()
      await applyPages(handle, pages)
      const [first] = pages.values()
      if (first) size = record.head.pageCount * first.length
      at = record.head.at
      for (const sha256 of record.head.missing) missing.push(sha256)
      isWhole ||= record.head.completes
      left -= 1
      if (left === 0) break
    }
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error
    damage = error
  } finally {
    if (size !== undefined) await handle.truncate(size)
    await handle.close()
  }
  if (at === undefined || !isWhole) throw damage ?? new DamagedBackup(`The stream in ${folder} is damaged.`)
  return { at, missing, ...(damage && { damage: damage.message }) }
}

/** Makes an assembled file a copy like that of a backup: without a log, and without passing rows. */
function settleFile(file: string, without: readonly string[]): void {
  const made = openCopyFile(file)
  try {
    made.pragma('journal_mode = DELETE')
    made.pragma('secure_delete = ON')
    for (const table of without) made.exec(`delete from ${table}`)
  } catch (cause) {
    throw new DamagedBackup(`The database of the stream is damaged: ${(cause as Error).message}.`, { cause })
  } finally {
    made.close()
  }
}

/** Of the contents that could not be read for the stream, those that are in no backup either. */
async function stillMissing(
  pool: ObjectPool,
  blobs: readonly Piece[],
  missing: ReadonlySet<string>,
): Promise<string[]> {
  const pieces = blobs.filter(({ sha256 }) => missing.has(sha256))
  await pool.find(pieces)
  const left: string[] = []
  for (const piece of pieces) if (!(await pool.has(piece))) left.push(piece.sha256)
  return left
}

async function describe(
  pool: ObjectPool,
  file: string,
  { base, at, missing }: Assembled & { base: Manifest },
): Promise<{ manifest: Manifest; blobs: Piece[]; small: Map<string, Buffer> }> {
  const copy = openCopy(file)
  const census = await censusOf(copy.at).finally(() => copy.close())
  const gone = new Set(await stillMissing(pool, census.blobs, new Set([...base.missing, ...missing])))
  const blobs = census.blobs.filter(({ sha256 }) => !gone.has(sha256))
  const small = new Map<string, Buffer>()
  const lists = [...listsOf(blobs)].map((list) => {
    const piece = pieceOf(Buffer.from(list))
    small.set(piece.sha256, Buffer.from(list))
    return piece
  })
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0)
  const database = await piecesOf(file)
  const { rows, accounts, files, file_bytes, migrations, server_id, epoch } = census
  const objects = blobs.length + database.pieces.length + base.files.length
  const manifest: Manifest = {
    format: 1,
    id: `${idTime(at)}-0000`,
    created_at: iso(at),
    version: base.version,
    server_id,
    epoch,
    migrations,
    database,
    files: base.files,
    blobs: { count: blobs.length, bytes, lists },
    missing: [...gone],
    rows,
    totals: { accounts, files, file_bytes, objects, bytes: bytes + database.size },
    added: { objects: 0, bytes: 0 },
  }
  return { manifest, blobs, small }
}

function sourceOf(
  folder: string,
  { pool, file, clear }: { pool: ObjectPool; file: string; clear: () => Promise<void> },
  { manifest, blobs, small }: Awaited<ReturnType<typeof describe>>,
  encrypted: boolean,
): BackupSource {
  const pieces = new Map(databasePieces(manifest.database).map((piece, index) => [piece.sha256, { piece, index }]))
  return {
    place: folder,
    encrypted,
    ids: () => Promise.resolve([manifest.id]),
    manifest: () => Promise.resolve(manifest),
    blobs: () => Promise.resolve(blobs),
    read(piece) {
      const list = small.get(piece.sha256)
      if (list) return bytesAtHand(list).read()
      const own = pieces.get(piece.sha256)
      return own ? readPiece(file, own.index, own.piece.size) : pool.read(piece)
    },
    close: clear,
  }
}

async function* readPiece(file: string, index: number, size: number): AsyncGenerator<Uint8Array> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size), 0, size, index * DATABASE_PIECE)
    yield buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** There is no stream, or it does not reach back so far. */
class NoSuchMoment extends Error {
  override name = 'NoSuchMoment'
  readonly exitCode = 5
}

interface Place {
  folder: string
  key: Uint8Array | undefined
  pool: ObjectPool
}

/** Puts together the database of a moment from one chapter, in a new file. */
async function assemble(
  { folder, key, pool }: Place,
  extent: StreamExtent,
  moment: number,
  file: string,
): Promise<Assembled & { base: Manifest }> {
  const base = await completeBase(folder, extent.chapter, key)
  await assembleDatabase(pool, base, file)
  return { base, ...(await applyRecords({ folder, key, file }, extent, moment)) }
}

/**
 * The state of a moment, epoch ms, or the newest one, put together in the folder `scratch`. The tables in `without` are
 * emptied. Damage on the way ends at the last good moment before it, which may be one of an earlier chapter; `shortfall`
 * says so.
 */
export async function openMoment(
  folder: string,
  key: Uint8Array | undefined,
  moment: number | undefined,
  { scratch, without }: { scratch: string; without: readonly string[] },
): Promise<MomentSource> {
  const pool = openPool(folder, key && poolKeys(key))
  let damaged: DamagedBackup | undefined
  // Older chapters are read only if newer ones do not have the moment.
  const extents: StreamExtent[] = []
  for await (const extent of streamExtents(folder, key)) {
    extents.unshift(extent)
    if (extent.from === Infinity || extent.from > (moment ?? Infinity)) continue
    const { file, clear } = ownScratch(scratch)
    try {
      const assembled = await assemble({ folder, key, pool }, extent, moment ?? Infinity, file)
      const { at, damage } = assembled
      settleFile(file, without)
      const source = sourceOf(folder, { pool, file, clear }, await describe(pool, file, assembled), key !== undefined)
      return { ...source, at, shortfall: damaged?.message ?? damage ?? shortfallOf(extents, extent, moment, at) }
    } catch (error) {
      await clear()
      if (!(error instanceof DamagedBackup)) throw error
      damaged ??= error
    }
  }
  const sound = extents.filter(({ from }) => from < Infinity)
  if (sound.length === 0) throw notStreamed(folder, extents)
  const first = sound.reduce((least, { from }) => Math.min(least, from), Infinity)
  throw (
    damaged ??
    new NoSuchMoment(`The stream in ${folder} begins at ${iso(first)}: give a later moment, or an earlier backup.`)
  )
}

function notStreamed(folder: string, extents: readonly StreamExtent[]): Error {
  const damage = extents.find((each) => each.damage !== undefined)?.damage
  return damage === undefined
    ? new NoSuchMoment(
        `There is no stream in ${folder}. To begin one: ${commandLine({}, ['backup', 'stream', '--to', folder])}`,
      )
    : new DamagedBackup(damage)
}

/** A mark is written every ten seconds: a stream that ends earlier than that was not running. */
const RUNNING_MS = 15_000

function shortfallOf(
  extents: readonly StreamExtent[],
  { chapter, damage, until }: StreamExtent,
  moment: number | undefined,
  at: number,
): string | undefined {
  if (damage !== undefined && (moment === undefined || moment > until)) return damage
  const later = extents.find((each) => each.chapter.number > chapter.number && each.damage !== undefined)
  if (moment === undefined) return later?.damage
  if (moment - at <= RUNNING_MS) return undefined
  return later?.damage ?? `The stream has nothing between ${iso(at)} and ${iso(moment)}.`
}
