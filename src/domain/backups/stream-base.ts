import { iso, type Clock } from '../../base/clock.ts'
import { DATABASE_PIECE, listsOf, pieceOf, type Manifest, type Piece } from '../../storage/backups/backup-manifest.ts'
import type { Chapter } from '../../storage/backups/stream-files.ts'
import type { ObjectWriter, StreamTarget } from '../../storage/backups/stream-target.ts'
import { appliedMigrations } from '../../storage/engine/migrations/migrate.ts'
import type { PageStream } from '../../storage/engine/page-stream.ts'
import type { Identity } from '../instance/instance.ts'

export interface BaseContext {
  pages: PageStream
  target: StreamTarget
  clock: Clock
  identity: Identity
  version: string
  installation: () => Promise<{ path: string; data: Uint8Array }[]>
}

/** Stores the bytes of the database file, and returns what it consists of. */
async function storeFile(pages: PageStream, objects: ObjectWriter, signal: AbortSignal): Promise<Manifest['database']> {
  const size = pages.size()
  const pieces: string[] = []
  for (let start = 0; start < size; start += DATABASE_PIECE) {
    signal.throwIfAborted()
    const length = Math.min(DATABASE_PIECE, size - start)
    const read = await pages.read(start, length)
    // The file may become shorter; the records then say so.
    const data = read.length === length ? read : Buffer.concat([read, Buffer.alloc(length - read.length)])
    const piece = pieceOf(data)
    pieces.push(piece.sha256)
    await objects.data(piece, data)
  }
  return { size, pieces }
}

/**
 * Copies the database file to the target. What it lacks, or changes meanwhile, is in the records of the chapter. Returns the
 * contents that cannot be read.
 */
export async function storeBase(
  { pages, target, clock, identity, version, installation }: BaseContext,
  chapter: Chapter,
  contents: readonly Piece[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  return target.adding(async (objects) => {
    const remember = async (data: Uint8Array): Promise<Piece> => {
      const piece = pieceOf(data)
      await objects.data(piece, data)
      return piece
    }
    const missing = await objects.contents(contents)
    const database = await storeFile(pages, objects, signal)
    const blobs = contents.filter(({ sha256 }) => !missing.has(sha256)).sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
    const lists: Piece[] = []
    for (const list of listsOf(blobs)) lists.push(await remember(Buffer.from(list)))
    const files: Manifest['files'] = []
    for (const { path, data } of await installation()) files.push({ path, ...(await remember(data)) })
    const bytes = blobs.reduce((sum, blob) => sum + blob.size, 0)
    await target.storeBase(chapter, {
      format: 1,
      id: chapter.id,
      created_at: iso(clock.now()),
      version,
      ...identity,
      migrations: await appliedMigrations(pages.at),
      database,
      files,
      blobs: { count: blobs.length, bytes, lists },
      missing: [...missing].sort(),
      rows: {},
      totals: { accounts: 0, files: 0, file_bytes: 0, objects: 0, bytes },
      added: { objects: 0, bytes: 0 },
    })
    return missing
  })
}
