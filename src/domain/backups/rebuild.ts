import type { Manifest, Piece } from '../../storage/backups/manifest.ts'
import { DamagedBackup } from '../../storage/backups/manifest.ts'
import { assembleDatabase } from '../../storage/backups/scratch.ts'
import { gather } from '../../storage/backups/file-bytes.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import type { BlobStore } from '../../storage/contents/blobs/blobs.ts'
import type { JobContext } from './job-context.ts'
import { databaseProblems } from './verification.ts'

/** An unused location for a restored backup. */
export interface RebuildTarget {
  /** The database file, which must not exist. */
  database: string
  blobs: BlobStore
  /** Writes a file of the installation: `config.json`, `keys/secret.key`. */
  write(path: string, data: Uint8Array): Promise<void>
}

/** Contents copied concurrently. */
const CONCURRENCY = 4

/** Restores a backup to `target`. Verifies every byte before it resolves; throws `DamagedBackup` at the first wrong one. */
export async function rebuild(
  source: BackupSource,
  manifest: Manifest,
  target: RebuildTarget,
  { progress, signal }: JobContext = {},
): Promise<void> {
  const blobs = await source.blobs(manifest)
  progress?.total(manifest.database.size + manifest.blobs.bytes)
  const done = (bytes: number): void => {
    signal?.throwIfAborted()
    progress?.add(bytes)
  }
  await assembleDatabase(source, manifest, target.database, done)
  const problems = await databaseProblems(manifest, blobs, target.database)
  if (problems.length > 0) throw new DamagedBackup(`This backup cannot be restored: ${problems.join('; ')}.`)
  for (const file of manifest.files) await target.write(file.path, await gather(source.read(file)))
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => copyEvery(worker)))

  /** Copies every fourth content, beginning with the worker's number. */
  async function copyEvery(worker: number): Promise<void> {
    for (let at = worker; at < blobs.length; at += CONCURRENCY) await copyBlob(blobs[at]!)
  }

  async function copyBlob(blob: Piece): Promise<void> {
    const stored = await target.blobs.put(source.read(blob), blob.size)
    if (stored.sha256 !== blob.sha256) throw new DamagedBackup(`The object ${blob.sha256} is damaged.`)
    done(blob.size)
  }
}
