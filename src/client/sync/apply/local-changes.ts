import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { openExpected } from '../local/file-hashes.ts'
import { rescueInPlace } from '../local/concurrent-writes.ts'
import { errorCode } from '../../../base/errors.ts'
import {
  assertFile,
  assertFolders,
  removeEmptyFolder,
  renameUnlessTaken,
  lstatPath,
  moveToTrash,
} from '../local/file-operations.ts'
import { identityOf } from '../local/scan.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change } from '../state/sync-state.ts'
import { secondsOf } from '../plan/sync-tree.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { trashPath } from '../local/local-trash.ts'

/**
 * Renames the local side of a conflict to its conflict copy. The base entry is removed first: if the run ends in
 * between, the path counts as unknown, never as deleted locally (owncloud/client#2428).
 */
export async function renameToConflictCopy(context: RunContext, op: OpOf<'set-aside'>): Promise<Effect> {
  const from = toLocalPath(context.root, op.here)
  const to = toLocalPath(context.root, op.to)
  const conflict = { copy: op.to, path: op.here, at: context.clock.now() }
  await context.commit.now({ changes: [{ dropBelow: op.key }, { conflict }] })
  if (op.id) {
    // The copy is the only one of this edit: it must survive a power failure.
    const file = await openExpected(from, op.id)
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }
  assertFolders(context.root, op.here)
  if (op.id) assertFile(from, op.id)
  else if (lstatPath(from)?.kind !== 'dir') throw new Changed('local')
  renameUnlessTaken(from, to)
  return { folders: [dirname(to)], changes: [] }
}

export function makeLocalFolder(context: RunContext, op: OpOf<'make-local'>): Effect {
  assertFolders(context.root, op.here)
  const place = toLocalPath(context.root, op.here)
  try {
    mkdirSync(place)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    if (lstatPath(place)?.kind !== 'dir') throw new Changed('local', error)
  }
  return { folders: [dirname(place)], changes: [{ put: op.key, node: { kind: 'dir', path: op.there } }] }
}

/** Sets the server's modification time; the content is equal on both sides. */
export async function touch(context: RunContext, op: OpOf<'touch'>): Promise<Effect> {
  assertFolders(context.root, op.here)
  const at = context.clock.now()
  const file = await openExpected(toLocalPath(context.root, op.here), op.id)
  const changes: Change[] = [{ put: op.key, node: { path: op.there, ...op.file } }]
  try {
    if (op.file.mtime > 0) await file.utimes(at / 1_000, op.file.mtime)
    const id = identityOf(await file.stat({ bigint: true }))
    // Only if the file is otherwise unchanged.
    const untouched = id.size === op.id.size && (op.file.mtime === 0 || secondsOf(id.mtimeNs) === op.file.mtime)
    if (untouched) changes.push({ hash: op.key, hashed: { id, sha256: op.file.sha256, blank: false, at } })
  } finally {
    await file.close()
  }
  return { changes }
}

/** A local deletion, with the path in the trash of a file. */
export interface Removal {
  op: OpOf<'remove-local'>
  trash: string | undefined
}

export const removalOf = ({ root, run }: Pick<RunContext, 'root' | 'run'>, op: OpOf<'remove-local'>): Removal => ({
  op,
  trash: op.id && trashPath(root, run, op.here),
})

/** Records local deletions beforehand, so that an interrupted run does not look like deletions by the user. */
export const intentsOf = (removals: readonly Removal[]): Effect => ({
  changes: removals.map(({ op: { key, here, id }, trash }) => {
    const file = id && trash !== undefined ? { file: { trash, size: id.size, mtimeNs: id.mtimeNs } } : {}
    return { begin: { kind: 'remove', key, path: here, ...file } }
  }),
})

/**
 * Ends the intents of deletions that did not happen, or a later deletion by the user would be reverted. Recovery still
 * needs those whose file is in the trash.
 */
export const withdraw = (removals: readonly Removal[]): Effect => ({
  changes: removals.flatMap(({ op, trash }) => (trash !== undefined && lstatPath(trash) ? [] : [{ end: op.key }])),
})

/** Deletes locally what was deleted on the server: files go to the trash, folders only if empty. */
export async function removeLocal(context: RunContext, { op, trash }: Removal): Promise<Effect> {
  assertFolders(context.root, op.here)
  const place = toLocalPath(context.root, op.here)
  const folders = [dirname(place)]
  if (!op.id || trash === undefined) removeEmptyFolder(place)
  else if (!moveToTrash(place, op.id, trash)) {
    // Make the name durable before it is recorded.
    await context.commit.now({ folders, changes: [...(await rescueInPlace(context, op.here, trash)), { end: op.key }] })
    throw new Changed('local')
  }
  return { folders, changes: [{ drop: op.key }, { end: op.key }] }
}
