import { objectsOf } from '../../storage/backups/manifest.ts'
import type { OwnRepository } from '../../storage/backups/repository.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { applyRetention, type Keep, type RetentionDecision } from './retention.ts'

export interface Pruning {
  /** Every backup, newest first, with the reasons to keep it. */
  decisions: RetentionDecision[]
  /** Objects that no kept backup references, and their bytes on the disk. */
  objects: number
  bytes: number
}

export interface PruningPlan extends Pruning {
  execute(): Promise<void>
}

/**
 * Plans which backups and unreferenced objects to remove, including objects of interrupted backups. Throws, with nothing
 * removed, if the manifest of a kept backup cannot be read.
 */
export async function planPruning(repository: OwnRepository, source: BackupSource, keep: Keep): Promise<PruningPlan> {
  const ids = await source.ids()
  const dated = ids.map((id) => ({ id, at: timeOf(id) }))
  const decisions = applyRetention(dated, keep)
  const needed = new Set<string>()
  for (const { id } of decisions.filter(({ reasons }) => reasons.length > 0)) {
    const manifest = await source.manifest(id)
    const objects = objectsOf(manifest, await source.blobs(manifest))
    for (const { sha256 } of objects) needed.add(repository.pool.nameOf(sha256))
  }
  const unneeded = [...(await repository.pool.stored())].filter(([name]) => !needed.has(name))
  return {
    decisions,
    objects: unneeded.length,
    bytes: unneeded.reduce((sum, [, size]) => sum + size, 0),
    async execute() {
      // Remove manifests first, durably: a manifest must not outlive its objects.
      await repository.forget(decisions.filter(({ reasons }) => reasons.length === 0).map(({ id }) => id))
      await repository.pool.remove(unneeded.map(([name]) => name))
      await repository.pool.sweep([])
    },
  }
}

/** The time in a backup id, epoch ms. */
const timeOf = (id: string): number =>
  Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-.*$/, '$1-$2-$3T$4:$5:$6Z'))
