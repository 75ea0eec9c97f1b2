import { planPruning, type Keep, type Pruning } from '../../domain/backups/backups.ts'
import { ownRepository, readRepository } from '../../storage/backups/repository.ts'
import type { BackupFolder } from './backup-locations.ts'

/** Removes old backups under an exclusive lock on the folder. */
export interface OpenPruning extends Pruning {
  execute(): Promise<void>
  release(): Promise<void>
}

/** Locks a folder of backups and plans what to remove. */
export async function openPruning({ folder, header, key }: BackupFolder, keep: Keep): Promise<OpenPruning> {
  const repository = await ownRepository(folder, header, key)
  try {
    const plan = await planPruning(repository, readRepository(folder, header, key), keep)
    return { ...plan, release: () => repository.release() }
  } catch (error) {
    await repository.release()
    throw error
  }
}
