import { fingerprintOf, lastState, noteState } from '../../storage/backups/last-state.ts'
import type { Manifest } from '../../storage/backups/backup-manifest.ts'
import type { BackupSink } from '../../storage/backups/source.ts'
import type { Database, ChangeWatch } from '../../storage/engine/database.ts'
import type { JobContext } from './job-context.ts'
import { draftUnchanged } from './manifest-draft.ts'
import type { BackupContext } from './backup-context.ts'

// Backups of an unchanged database. In case of doubt it counts as changed.

/** A backup of the last one's objects, if the database equals it; undefined if that is unknown or an object is gone. */
export async function repeatBackup(
  context: BackupContext,
  sink: BackupSink,
  { signal }: JobContext,
): Promise<Manifest | undefined> {
  const { database, clock, identity, version } = context
  const last = await lastState(context.scratch)
  if (!last || last.version !== version || last.repository !== sink.repository) return undefined
  const now = clock.now()
  if (last.state !== (await database.state())) return undefined
  const earlier = await sink.standing(last.backup)
  if (!earlier || fingerprintOf(earlier.manifest) !== last.fingerprint) return undefined
  const { server_id, epoch, missing } = earlier.manifest
  // Missing contents may have returned: the state does not cover the blob store.
  if (server_id !== identity.server_id || epoch !== identity.epoch || missing.length > 0) return undefined
  signal?.throwIfAborted()
  return sink.finish(draftUnchanged(earlier, now, await context.installation()), () => signal?.throwIfAborted())
}

/** Records the state of the database, unless something else wrote to it since the watch began. */
export async function recordState(
  { scratch, version }: BackupContext,
  watch: ChangeWatch,
  { repository }: BackupSink,
  manifest: Manifest,
) {
  const state = repository === undefined ? undefined : await watch.settle()
  if (repository === undefined || state === undefined) return
  await noteState(scratch, { state, version, repository, backup: manifest.id, fingerprint: fingerprintOf(manifest) })
}

/** Writes records about backups without making the database count as changed since the last backup. */
export async function writeUnseen(
  { database, scratch }: Pick<BackupContext, 'database' | 'scratch'>,
  unit: Parameters<Database['write']>[1],
): Promise<void> {
  const watch = database.watch()
  const last = await lastState(scratch)
  const wasUnchanged = last !== undefined && last.state === (await database.state())
  await watch.write('instance', unit)
  const state = wasUnchanged ? await watch.settle() : undefined
  if (last && state !== undefined) await noteState(scratch, { ...last, state })
}
