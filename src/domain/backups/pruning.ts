import { isFuture } from '../../base/clock.ts'
import { backupTime, DamagedBackup, objectsOf, type Piece } from '../../storage/backups/backup-manifest.ts'
import type { ObjectPool } from '../../storage/backups/object-pool.ts'
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

/** What a stream in the same folder needs. */
interface StreamNeeds {
  objects: readonly Piece[]
  damaged: readonly { id: string; what: string }[]
}

export interface PruningPlan extends Pruning {
  /** Carries out the plan under a lock, except for objects that are needed by what was stored since. */
  execute(repository: OwnRepository, stream: StreamNeeds): Promise<void>
}

interface PruningOptions {
  keep: Keep
  /** Epoch ms. */
  now: number
  /** A backup that is removed whatever the rules say, also a damaged one. */
  drop?: string | undefined
  stream: StreamNeeds
}

/**
 * Plans which backups and unreferenced objects to remove, including objects of interrupted backups. No object is removed
 * while the manifest of a kept backup cannot be read, because it may need any of them. Needs no lock.
 */
export async function planPruning(
  pool: ObjectPool,
  source: BackupSource,
  { keep, now, drop, stream }: PruningOptions,
): Promise<PruningPlan> {
  let dated = (await source.ids()).map((id) => ({ id, at: backupTime(id) }))
  const damaged = new Map<string, string>()
  const needed = new Set<string>()
  const need = (pieces: Iterable<Piece>): void => {
    for (const { sha256 } of pieces) needed.add(pool.nameOf(sha256))
  }
  need(stream.objects)

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
    for (const { id } of kept) await examine(id)
  }

  async function examine(id: string): Promise<void> {
    examined.add(id)
    try {
      const manifest = await source.manifest(id)
      need(objectsOf(manifest, await source.blobs(manifest)))
    } catch (error) {
      if (!(error instanceof DamagedBackup)) throw error
      // Another process may have removed it since.
      if ((await source.ids()).includes(id)) damaged.set(id, error.message)
      else dated = dated.filter((backup) => backup.id !== id)
    }
  }

  async function planOf(decisions: RetentionDecision[]): Promise<PruningPlan> {
    const stored = damaged.size + stream.damaged.length > 0 ? [] : [...(await pool.stored())]
    const unneeded = stored.filter(([name]) => !needed.has(name))
    const removed = decisions.filter(({ reasons }) => reasons.length === 0).map(({ id }) => id)
    return {
      decisions,
      damaged: [...damaged].map(([id, what]) => ({ id, what })).concat(stream.damaged),
      objects: unneeded.length,
      bytes: unneeded.reduce((sum, [, size]) => sum + size, 0),
      async execute(repository, now) {
        const planned = new Set(decisions.map(({ id }) => id))
        for (const id of await source.ids()) if (!planned.has(id)) await examine(id)
        need(now.objects)
        const isDamaged = damaged.size + now.damaged.length > 0
        // Remove manifests first, durably: a manifest must not outlive its objects.
        await repository.forget(removed)
        const names = isDamaged ? [] : unneeded.map(([name]) => name).filter((name) => !needed.has(name))
        await repository.pool.remove(names)
        await repository.pool.sweep([])
      },
    }
  }
}
