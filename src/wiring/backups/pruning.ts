import { planPruning, type Keep, type Pruning } from '../../domain/backups/backups.ts'
import type { Piece } from '../../storage/backups/backup-manifest.ts'
import { openPool, poolKeys } from '../../storage/backups/object-pool.ts'
import { ownRepository, readRepository } from '../../storage/backups/repository.ts'
import { removeChapter } from '../../storage/backups/stream-files.ts'
import { oldChapters, streamObjects } from '../../storage/backups/stream-target.ts'
import { backupNamed, type BackupFolder } from './backup-locations.ts'

/** What is to be removed. */
export interface PlannedPruning extends Pruning {
  /** Old parts of a stream, which are removed too. */
  chapters: string[]
  /** Removes it under an exclusive lock on the folder. Throws `RepositoryBusy`. */
  execute(): Promise<void>
}

/**
 * Plans what to remove from a folder of backups: `drop`, and what the rules do not keep. Takes no lock: reading a long
 * stream, and people who are asked, take their time.
 */
export async function planRemoval(
  { folder, header, key }: BackupFolder,
  keep: Keep,
  { drop, streamDays }: { drop?: string | undefined; streamDays?: number | undefined } = {},
): Promise<PlannedPruning> {
  const source = readRepository(folder, header, key)
  const id = drop === undefined ? undefined : await backupNamed(source, drop)
  const chapters = streamDays === undefined ? [] : await oldChapters(folder, streamDays, Date.now())
  const finished = new Map<string, readonly Piece[]>()
  const streamNeeds = () => streamObjects(folder, key, chapters, finished)
  const pool = openPool(folder, header.encrypted ? poolKeys(key!) : undefined)
  const plan = await planPruning(pool, source, { keep, now: Date.now(), drop: id, stream: await streamNeeds() })
  return {
    ...plan,
    chapters: chapters.map(({ name }) => name),
    async execute() {
      const repository = await ownRepository(folder, header, key)
      try {
        const stream = await streamNeeds()
        for (const chapter of chapters) await removeChapter(folder, chapter)
        await plan.execute(repository, stream)
      } finally {
        await repository.release()
      }
    },
  }
}
