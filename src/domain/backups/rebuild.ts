import type { Manifest, Piece } from '../../storage/backups/manifest.ts'
import { DamagedBackup } from '../../storage/backups/manifest.ts'
import { assembleDatabase } from '../../storage/backups/scratch.ts'
import { gather } from '../../storage/backups/file-bytes.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import type { BlobStore } from '../../storage/contents/blobs/blobs.ts'
import type { JobContext } from './job-context.ts'
import { databaseProblems } from './verify.ts'

/** Where a backup is put together again: a place that nobody uses yet. */
export interface RebuildTarget {
  /** The database file, not there yet. */
  database: string
  blobs: BlobStore
  /** Writes a file of the installation: `config.json`, `keys/secret.key`. */
  write(path: string, data: Uint8Array): Promise<void>
}

/** Contents received at the same time. */
const WIDTH = 4

/** Puts a backup together again. Every byte is checked before this resolves; throws `DamagedBackup` at the first that is wrong. */
export async function rebuild(
  source: BackupSource,
  manifest: Manifest,
  site: RebuildTarget,
  { progress, signal }: JobContext = {},
): Promise<void> {
  const blobs = await source.blobs(manifest)
  progress?.total(manifest.database.size + manifest.blobs.bytes)
  const done = (bytes: number): void => {
    signal?.throwIfAborted()
    progress?.add(bytes)
  }
  await assembleDatabase(source, manifest, site.database, done)
  const problems = await databaseProblems(manifest, blobs, site.database)
  if (problems.length > 0) throw new DamagedBackup(`This backup cannot be restored: ${problems.join('; ')}.`)
  for (const file of manifest.files) await site.write(file.path, await gather(source.read(file)))
  await Promise.all(Array.from({ length: WIDTH }, (_, worker) => copyEvery(worker)))

  /** Every fourth content, beginning with its own number. */
  async function copyEvery(worker: number): Promise<void> {
    for (let at = worker; at < blobs.length; at += WIDTH) await copyBlob(blobs[at]!)
  }

  async function copyBlob(blob: Piece): Promise<void> {
    const stored = await site.blobs.put(source.read(blob), blob.size)
    if (stored.sha256 !== blob.sha256) throw new DamagedBackup(`The object ${blob.sha256} is damaged.`)
    done(blob.size)
  }
}
