import { planPruning, type Keep, type Pruning } from '../../domain/backups/backups.ts'
import { ownRepository, readRepository } from '../../storage/backups/repository.ts'
import { streamObjects } from '../../storage/backups/stream-target.ts'
import { backupNamed, type BackupFolder } from './backup-locations.ts'

/** Removes old backups under an exclusive lock on the folder. */
export interface OpenPruning extends Pruning {
  execute(): Promise<void>
  release(): Promise<void>
}

/** Locks a folder of backups and plans what to remove: `drop`, and what the rules do not keep. */
export async function openPruning(
  { folder, header, key }: BackupFolder,
  keep: Keep,
  drop?: string,
): Promise<OpenPruning> {
  const repository = await ownRepository(folder, header, key)
  try {
    const source = readRepository(folder, header, key)
    const id = drop === undefined ? undefined : await backupNamed(source, drop)
    const stream = await streamObjects(folder, key)
    const plan = await planPruning(repository, source, { keep, now: Date.now(), drop: id, stream })
    return { ...plan, release: () => repository.release() }
  } catch (error) {
    await repository.release()
    throw error
  }
}
