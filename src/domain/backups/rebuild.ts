import type { Manifest, Piece } from '../../storage/backups/backup-manifest.ts'
import { DamagedBackup } from '../../storage/backups/backup-manifest.ts'
import { assembleDatabase } from '../../storage/backups/scratch.ts'
import { readAll } from '../../storage/backups/file-bytes.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import type { BlobStore } from '../../storage/contents/blobs/blobs.ts'
import type { JobContext } from './job-context.ts'
import { contentsInDatabase, databaseProblems } from './verification.ts'

/** An unused location for a restored backup. */
export interface RebuildTarget {
  /** The database file, which must not exist. */
  database: string
  blobs: BlobStore
  /** Writes a file of the installation: `config.json`, `keys/secret.key`. */
  write(path: string, data: Uint8Array): Promise<void>
}

/** What a partial restore could not read. */
export interface Lost {
  contents: string[]
  /** Files of the installation, such as `config.json`. */
  files: string[]
}

/** Contents copied concurrently. */
const CONCURRENCY = 4

/** The result of `read` of something dispensable; with `isPartial`, undefined where the backup is damaged. */
async function orLost<T>(isPartial: boolean, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof DamagedBackup)) throw error
    if (isPartial) return undefined
    error.isDispensable = true
    throw error
  }
}

/** The items one after another; a loop that throws ends it for all others. */
function* each<T>(items: readonly T[]): Generator<T> {
  yield* items
}

/**
 * Restores a backup to `target` and verifies every byte before it resolves. Throws `DamagedBackup` at the first wrong one; with
 * `isPartial` only where the database or a key is damaged, and resolves with what else is lost.
 */
export async function rebuild(
  source: BackupSource,
  manifest: Manifest,
  target: RebuildTarget,
  { isPartial = false, progress, signal }: JobContext & { isPartial?: boolean } = {},
): Promise<Lost> {
  const lost: Lost = { contents: [], files: [] }
  const listed = await orLost(isPartial, () => source.blobs(manifest))
  progress?.total(manifest.database.size + manifest.blobs.bytes)
  const done = (bytes: number): void => {
    signal?.throwIfAborted()
    progress?.add(bytes)
  }
  await assembleDatabase(source, manifest, target.database, done)
  const problems = await databaseProblems(manifest, listed, target.database)
  if (problems.length > 0) throw new DamagedBackup(`This backup cannot be restored: ${problems.join('; ')}.`)
  const blobs = listed ?? (await contentsInDatabase(manifest, target.database))
  for (const file of manifest.files) {
    const read = () => readAll(source.read(file))
    const data = file.path.startsWith('keys/') ? await read() : await orLost(isPartial, read)
    if (data) await target.write(file.path, data)
    else lost.files.push(file.path)
  }
  // A failure ends the queue, and the caller may remove the target only when nothing writes to it any more.
  const queue = each(blobs)
  const ends = await Promise.allSettled(Array.from({ length: CONCURRENCY }, copyQueued))
  for (const end of ends) if (end.status === 'rejected') throw end.reason as Error
  lost.contents.sort()
  return lost

  async function copyQueued(): Promise<void> {
    for (const blob of queue) if (!(await orLost(isPartial, () => copyBlob(blob)))) lost.contents.push(blob.sha256)
  }

  async function copyBlob(blob: Piece): Promise<Piece> {
    const stored = await target.blobs.put(source.read(blob), blob.size)
    if (stored.sha256 !== blob.sha256) throw new DamagedBackup(`The object ${blob.sha256} is damaged.`)
    done(blob.size)
    return blob
  }
}
