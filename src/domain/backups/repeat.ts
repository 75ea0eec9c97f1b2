import { fingerprintOf, lastState, noteState } from '../../storage/backups/last-state.ts'
import type { Manifest } from '../../storage/backups/manifest.ts'
import type { BackupSink } from '../../storage/backups/source.ts'
import type { Database, ChangeWatch } from '../../storage/engine/database.ts'
import type { JobContext } from './job-context.ts'
import { draftAgain } from './draft.ts'
import type { CreateParts } from './parts.ts'

// Backups of what has not changed. Whatever is in doubt counts as changed.

/**
 * Makes a backup of a database that is as the last backup shows it: one that names the same objects. Undefined when it
 * is not, when that is not known, or when an object is gone.
 */
export async function repeat(
  parts: CreateParts,
  sink: BackupSink,
  { signal }: JobContext,
): Promise<Manifest | undefined> {
  const { database, clock, identity, version } = parts
  const last = await lastState(parts.scratch)
  if (!last || last.version !== version || last.repository !== sink.repository) return undefined
  const now = clock.now()
  if (last.state !== (await database.state())) return undefined
  const earlier = await sink.standing(last.backup)
  if (!earlier || fingerprintOf(earlier.manifest) !== last.fingerprint) return undefined
  const { server_id, epoch, missing } = earlier.manifest
  // What was missing may have come back: the blob store is no part of the state.
  if (server_id !== identity.server_id || epoch !== identity.epoch || missing.length > 0) return undefined
  signal?.throwIfAborted()
  return sink.finish(draftAgain(earlier, now, await parts.installation()), () => signal?.throwIfAborted())
}

/** Notes what the database is like now, where nothing but backups was written to it since the watch began. */
export async function note(
  { scratch, version }: CreateParts,
  watch: ChangeWatch,
  { repository }: BackupSink,
  manifest: Manifest,
) {
  const state = repository === undefined ? undefined : await watch.settle()
  if (repository === undefined || state === undefined) return
  await noteState(scratch, { state, version, repository, backup: manifest.id, fingerprint: fingerprintOf(manifest) })
}

/** Writes what svc notes of backups. Where the last one showed all that is there, it counts as showing all afterwards too. */
export async function writeAside(
  { database, scratch }: Pick<CreateParts, 'database' | 'scratch'>,
  unit: Parameters<Database['write']>[0],
): Promise<void> {
  const watch = database.watch()
  const last = await lastState(scratch)
  const wasShown = last !== undefined && last.state === (await database.state())
  await watch.write(unit)
  const state = wasShown ? await watch.settle() : undefined
  if (last && state !== undefined) await noteState(scratch, { ...last, state })
}
