import { planPruning, type Keep, type Pruning } from '../../domain/backups/backups.ts'
import { ownRepository, readRepository } from '../../storage/backups/repository.ts'
import { removeChapter } from '../../storage/backups/stream-files.ts'
import { oldChapters, streamObjects } from '../../storage/backups/stream-target.ts'
import { backupNamed, type BackupFolder } from './backup-locations.ts'

/** Removes old backups under an exclusive lock on the folder. */
export interface OpenPruning extends Pruning {
  /** Old parts of a stream, which are removed too. */
  chapters: string[]
  execute(): Promise<void>
  release(): Promise<void>
}

/** Locks a folder of backups and plans what to remove: `drop`, and what the rules do not keep. */
export async function openPruning(
  { folder, header, key }: BackupFolder,
  keep: Keep,
  { drop, streamDays }: { drop?: string | undefined; streamDays?: number | undefined } = {},
): Promise<OpenPruning> {
  const repository = await ownRepository(folder, header, key)
  try {
    const source = readRepository(folder, header, key)
    const id = drop === undefined ? undefined : await backupNamed(source, drop)
    const chapters = streamDays === undefined ? [] : await oldChapters(folder, streamDays, Date.now())
    const stream = await streamObjects(folder, key, chapters)
    const plan = await planPruning(repository, source, { keep, now: Date.now(), drop: id, stream })
    return {
      ...plan,
      chapters: chapters.map(({ name }) => name),
      async execute() {
        for (const chapter of chapters) await removeChapter(folder, chapter)
        await plan.execute()
      },
      release: () => repository.release(),
    }
  } catch (error) {
    await repository.release()
    throw error
  }
}
