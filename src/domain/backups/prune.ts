import { objectsOf } from '../../storage/backups/manifest.ts'
import type { OwnRepository } from '../../storage/backups/repository.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { judgeBackups, type Keep, type RetentionDecision } from './retention.ts'

export interface Pruning {
  /** Every backup, newest first, with why it is kept. */
  verdicts: RetentionDecision[]
  /** Objects that no kept backup has, and their bytes on the disk. */
  objects: number
  bytes: number
}

/** What a repository would lose, and how to let it. */
export interface PruningPlan extends Pruning {
  carryOut(): Promise<void>
}

/**
 * Plans which backups go and which objects nobody has then. Objects that an interrupted backup left go too. Throws, with
 * nothing removed, when the manifest of a backup that stays cannot be read: its objects would not be known.
 */
export async function planPruning(repository: OwnRepository, source: BackupSource, keep: Keep): Promise<PruningPlan> {
  const ids = await source.ids()
  const dated = ids.map((id) => ({ id, at: momentOf(id) }))
  const verdicts = judgeBackups(dated, keep)
  const needed = new Set<string>()
  for (const { id } of verdicts.filter(({ reasons }) => reasons.length > 0)) {
    const manifest = await source.manifest(id)
    const objects = objectsOf(manifest, await source.blobs(manifest))
    for (const { sha256 } of objects) needed.add(repository.pool.nameOf(sha256))
  }
  const unneeded = [...(await repository.pool.stored())].filter(([name]) => !needed.has(name))
  return {
    verdicts,
    objects: unneeded.length,
    bytes: unneeded.reduce((sum, [, size]) => sum + size, 0),
    async carryOut() {
      // First the manifests, durably: never may one stand whose objects are gone.
      await repository.forget(verdicts.filter(({ reasons }) => reasons.length === 0).map(({ id }) => id))
      await repository.pool.remove(unneeded.map(([name]) => name))
      await repository.pool.sweep([])
    },
  }
}

/** The moment in an id, epoch ms. */
const momentOf = (id: string): number =>
  Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-.*$/, '$1-$2-$3T$4:$5:$6Z'))
