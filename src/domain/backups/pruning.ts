import { isFuture } from '../../base/clock.ts'
import { backupTime, DamagedBackup, objectsOf, type Piece } from '../../storage/backups/backup-manifest.ts'
import type { OwnRepository } from '../../storage/backups/repository.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { applyRetention, type Keep, type RetentionDecision } from './retention.ts'

export interface Pruning {
  /** Every backup, newest first, with the reasons to keep it. */
  decisions: RetentionDecision[]
  /** Kept backups whose manifest or list of contents cannot be read. Until they are dropped, no object is removed. */
  damaged: { id: string; what: string }[]
  /** Objects that no kept backup references, and their bytes on the disk. */
  objects: number
  bytes: number
}

export interface PruningPlan extends Pruning {
  execute(): Promise<void>
}

interface PruningOptions {
  keep: Keep
  /** Epoch ms. */
  now: number
  /** A backup that is removed whatever the rules say, also a damaged one. */
  drop?: string | undefined
  /** What a stream in the same folder needs. */
  stream?: { objects: readonly Piece[]; damaged: readonly { id: string; what: string }[] }
}

/**
 * Plans which backups and unreferenced objects to remove, including objects of interrupted backups. No object is removed
 * while the manifest of a kept backup cannot be read, because it may need any of them.
 */
export async function planPruning(
  repository: OwnRepository,
  source: BackupSource,
  { keep, now, drop, stream }: PruningOptions,
): Promise<PruningPlan> {
  const dated = (await source.ids()).map((id) => ({ id, at: backupTime(id) }))
  const damaged = new Map<string, string>()
  const needed = new Set(stream?.objects.map(({ sha256 }) => repository.pool.nameOf(sha256)))
  const streamDamage = stream?.damaged ?? []

  function decide(): RetentionDecision[] {
    const exceptions = dated.flatMap(({ id, at }): RetentionDecision[] => {
      if (id === drop) return [{ id, reasons: [] }]
      if (damaged.has(id)) return [{ id, reasons: ['damaged'] }]
      return isFuture(at, now) ? [{ id, reasons: ['future'] }] : []
    })
    const special = new Set(exceptions.map(({ id }) => id))
    const others = applyRetention(
      dated.filter(({ id }) => !special.has(id)),
      keep,
    )
    return [...exceptions, ...others].sort((a, b) => (a.id < b.id ? 1 : -1))
  }

  const examined = new Set<string>()
  for (;;) {
    const decisions = decide()
    const kept = decisions.filter(({ id, reasons }) => reasons.length > 0 && !examined.has(id))
    if (kept.length === 0) return planOf(decisions)
    for (const { id } of kept) {
      examined.add(id)
      try {
        const manifest = await source.manifest(id)
        const objects = objectsOf(manifest, await source.blobs(manifest))
        for (const { sha256 } of objects) needed.add(repository.pool.nameOf(sha256))
      } catch (error) {
        if (!(error instanceof DamagedBackup)) throw error
        damaged.set(id, error.message)
      }
    }
  }

  async function planOf(decisions: RetentionDecision[]): Promise<PruningPlan> {
    const stored = damaged.size + streamDamage.length > 0 ? [] : [...(await repository.pool.stored())]
    const unneeded = stored.filter(([name]) => !needed.has(name))
    return {
      decisions,
      damaged: [...damaged].map(([id, what]) => ({ id, what })).concat(streamDamage),
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
}
